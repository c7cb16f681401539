// What models run on, through the page: chosen in the settings and at a load, and said where the processor stands in.
import type { Device } from '../../electron/contract/runtime';
import { violations } from './stub/axe';
import { expect, test } from './stub/fixture';

const ID = `vulkan:${'a'.repeat(32)}`;
const card: Device = {
  id: ID,
  name: 'Radeon RX 7900',
  kind: 'gpu',
  memoryTotal: 24e9,
  memoryFree: 22e9,
  features: ['memory_budget'],
  cores: 0,
  graphics: {
    type: 'discrete',
    uuid: 'a'.repeat(32),
    pci: '0000:03:00.0',
    driver: 'radv Mesa 26.1',
    api: '1.4',
    unified: false,
    budgetKnown: true,
    heaps: [],
    off: [],
  },
};

test('a card is chosen for all loads and demanded, and for one load the processor', async ({ hearth, page }) => {
  hearth.stub.state.devices = [...hearth.stub.state.devices, card];
  hearth.stub.changed();
  await page.evaluate(() => void (location.hash = '#/settings/storage'));
  const section = page.locator('.section').filter({ has: page.getByRole('heading', { name: 'What models run on' }) });
  await expect(section).toContainText('22 GB of 24 GB free');
  await section.getByRole('radio', { name: /Radeon/ }).check();
  await section.getByRole('switch', { name: /Only on a graphics card/ }).click();
  await expect.poll(() => [hearth.stub.settings.device, hearth.stub.settings.gpuRequired]).toEqual([ID, true]);
  expect(await violations(page)).toEqual([]);

  await page.evaluate(() => void (location.hash = '#/models'));
  await page.getByRole('button', { name: 'More about smollm2-135m-instruct-q4_1' }).click();
  await page.getByRole('menuitem', { name: 'Choose how it is loaded…' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('Memory of Radeon RX 7900: 24 GB');
  await expect(dialog).toContainText('Radeon RX 7900 is expected to be fastest, and has room.');
  await dialog.getByText('Processor', { exact: true }).click();
  await expect(dialog).toContainText('Memory of this computer');
  await dialog.getByRole('button', { name: 'Load', exact: true }).click();
  const asked = () => hearth.stub.library.asked.find(({ url }) => url.endsWith('/models/load'))?.body;
  await expect.poll(asked).toMatchObject({ device: 'cpu' });
});

test('the processor never stands in for a card without a word', async ({ hearth, page }) => {
  const { state } = hearth.stub;
  if (state.active)
    state.active = { ...state.active, fallback: { device: card.name, driver: 'RADV', code: 'device_lost' } };
  hearth.stub.changed();
  await page.evaluate(() => void (location.hash = '#/models'));
  await expect(
    page.getByText('runs on the processor, and more slowly, because Radeon RX 7900 (driver RADV) failed.'),
  ).toBeVisible();
  await expect(page.getByRole('link', { name: 'To the devices' })).toHaveAttribute('href', /settings\/storage/);
});

test('kernels that did not pass their self-test are said, with what the engine says of them', async ({
  hearth,
  page,
}) => {
  const { state } = hearth.stub;
  const replacedKernels = ['Kernel gemm_large_q8_0 is replaced by gemm: its numbers are wrong.'];
  if (state.active) state.active = { ...state.active, gpu: card.name, replacedKernels };
  hearth.stub.changed();
  await page.evaluate(() => void (location.hash = '#/models'));
  await expect(page.getByText('A fast kernel did not pass its self-test on Radeon RX 7900')).toBeVisible();
  await page.getByText('What the engine says').click();
  await expect(page.getByText('Kernel gemm_large_q8_0 is replaced by gemm')).toBeVisible();
});
