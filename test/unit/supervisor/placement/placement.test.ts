// Every plan for the machines that people have, as a table that a reader can judge (placement.table.md), and what must hold of all of them.
import i18next from 'i18next';
import { beforeAll, describe, expect, it } from 'vitest';
import type { MemoryPlan } from '../../../../electron/contract/runtime';
import { devicesOf } from '../../../../electron/supervisor/placement/mesh';
import { inARow } from '../../../../electron/supervisor/placement/layers';
import { placements, preferred, type Machine } from '../../../../electron/supervisor/placement/place';
import { sizesOf, total, type Heat } from '../../../../electron/supervisor/placement/sizes';
import { fractionsOf } from '../../../../electron/supervisor/placement/tensors';
import { bytesOf, type PlaceDevice, type Placement } from '../../../../electron/supervisor/placement/types';
import { placementWords } from '../../../../renderer/model/placementWords';
import type { Language, Translate } from '../../../../renderer/i18n';
import { en } from '../../../../renderer/i18n/en';
import { zhCN } from '../../../../renderer/i18n/zh-CN';
import { MACHINES, machineOf, type TestMachine } from './machines';
import { MODELS } from './models';

const CONTEXTS = [8192, 32_768, 131_072];
const GB = 1e9;
const [small, large, dense] = MODELS as [MemoryPlan, MemoryPlan, MemoryPlan];

const plansFor = (plan: MemoryPlan, context: number, machine: Machine, heat?: Heat): Placement[] =>
  placements(sizesOf(plan, context, 'f16', { heat }), machine);
const best = (plan: MemoryPlan, context: number, machine: Machine): Placement | undefined =>
  plansFor(plan, context, machine)[0];

const gb = (bytes: number) => (bytes / GB).toFixed(1);
const part = ({ name, weightBytes, kvBytes, scratchBytes, layers, fraction }: Placement['shares'][number]): string =>
  `${name}: ${fraction < 1 ? `${Math.round(fraction * 100)} % of ` : ''}${layers} layers, ${gb(weightBytes)} + ${gb(kvBytes)} + ${gb(scratchBytes)}`;

const words = i18next.createInstance();
beforeAll(async () => {
  const resources = { en: { translation: en }, 'zh-CN': { translation: zhCN } };
  await words.init({ resources, keySeparator: false, nsSeparator: false, interpolation: { escapeValue: false } });
});

function rows(language: Language): string[] {
  const t = words.getFixedT(language) as unknown as Translate;
  return MACHINES.flatMap((machine) =>
    MODELS.flatMap((plan) =>
      CONTEXTS.map((context) => {
        const all = plansFor(plan, context, machineOf(machine));
        const first = preferred(all);
        const cells = first
          ? [
              first.kind,
              `${first.decodeTps.toFixed(1)}`,
              first.shares.map(part).join('; '),
              placementWords(t, first, language),
            ]
          : ['none', '', '', t('placement.none')];
        return `| ${[machine.name, plan.model.name, `${context / 1024}k`, ...cells].join(' | ')} |`;
      }),
    ),
  );
}

const HEAD = [
  '# The best plan for each machine, model and context',
  '',
  'Bytes in GB: weights + conversation + working space, of each device. Speed in tokens a second, expected.',
  '',
  '| machine | model | context | plan | speed | parts | in words |',
  '|---|---|---|---|---|---|---|',
];

describe('the table of placements', () => {
  it('is as it was judged to be right', async () => {
    await expect(`${[...HEAD, ...rows('en')].join('\n')}\n`).toMatchFileSnapshot('placement.table.md');
  });

  it('has a sentence in Chinese for each, with no English word and no hole', () => {
    for (const row of rows('zh-CN')) {
      const sentence = row.split(' | ').at(-1) ?? '';
      expect(sentence).toMatch(/[\u4e00-\u9fff]/);
      expect(sentence).not.toMatch(/\{\{|undefined|placement\./);
    }
  });
});

/** In each layer others are used most; a few often, many hardly. */
const habit = (layer: number, expert: number, experts: number): number =>
  1 / (1 + ((expert * 7 + layer * 5) % experts));

const CONTEXT = 32_768;
const habitOf = ({ model: { layers, experts } }: MemoryPlan): Heat =>
  Array.from({ length: layers }, (_, layer) => Array.from({ length: experts }, (__, i) => habit(layer, i, experts)));
const withExperts = MACHINES.flatMap((machine) =>
  [small, large].map((plan) => ({ name: machine.name, machine: machineOf(machine), plan })),
);
const BY_USE_HEAD = [
  '# Plans that go by which experts are used',
  '',
  'Of the machines whose cards have not room for all, 32k tokens of context. The habit is made up: the nth expert of a layer is used a nth as often as the',
  'first. Speed in tokens a second, expected: without knowledge of use, and with it. Experts on cards; layers that have experts in two places.',
  '',
  '| machine | model | plan | without | with | on cards | in two places | in words |',
  '|---|---|---|---|---|---|---|---|',
];

describe('every plan', () => {
  const everywhere = MACHINES.flatMap((machine) =>
    MODELS.flatMap((plan) => CONTEXTS.map((context) => ({ machine: machineOf(machine), plan, context }))),
  );

  it('gives no device more than its room, and no memory that is shared more than there is', () => {
    for (const { machine, plan, context } of everywhere) {
      for (const { shares, spareBytes } of plansFor(plan, context, machine)) {
        expect(spareBytes).toBeGreaterThanOrEqual(0);
        for (const device of [machine.cpu, ...machine.gpus])
          expect(total(shares.filter((share) => share.device === device.id).map(bytesOf))).toBeLessThanOrEqual(
            device.roomBytes,
          );
        const own = new Set(machine.gpus.filter(({ unified }) => !unified).map(({ id }) => id));
        expect(total(shares.filter(({ device }) => !own.has(device)).map(bytesOf))).toBeLessThanOrEqual(
          machine.cpu.roomBytes,
        );
      }
    }
  });

  it('has every layer once and all bytes of the model', () => {
    for (const { machine, plan, context } of everywhere) {
      for (const { shares } of plansFor(plan, context, machine)) {
        expect(total(shares.map(({ layers, fraction }) => layers * fraction))).toBeCloseTo(plan.model.layers, 6);
        expect(total(shares.map(({ weightBytes }) => weightBytes)) / plan.weightBytes).toBeCloseTo(1, 6);
      }
    }
  });

  it('is the slower the longer the context, never faster', () => {
    for (const { machine, plan } of everywhere) {
      const speeds = CONTEXTS.map((context) => best(plan, context, machine)?.decodeTps ?? 0);
      expect(speeds).toEqual([...speeds].sort((one, two) => two - one));
    }
  });

  it('never gets slower by more memory, of the card or of the machine', () => {
    const grow = (device: PlaceDevice, bytes: number): PlaceDevice => ({
      ...device,
      roomBytes: device.roomBytes + bytes,
    });
    for (const { machine, plan, context } of everywhere.filter((_, index) => index % 2 === 0)) {
      const speed = (grown: Machine) => best(plan, context, grown)?.decodeTps ?? 0;
      const now = speed(machine);
      for (const more of [0.3, 1, 3, 7].map((each) => each * GB)) {
        const [first, ...others] = machine.gpus as [PlaceDevice, ...PlaceDevice[]];
        expect(speed({ ...machine, gpus: [grow(first, more), ...others] })).toBeGreaterThanOrEqual(now);
        expect(speed({ ...machine, cpu: grow(machine.cpu, more) })).toBeGreaterThanOrEqual(now);
      }
    }
  });

  it('is no worse with one card more', () => {
    for (const { machine, plan, context } of everywhere.filter((_, index) => index % 3 === 0)) {
      const fewer = { ...machine, gpus: machine.gpus.slice(1) };
      expect(best(plan, context, machine)?.decodeTps ?? 0).toBeGreaterThanOrEqual(
        best(plan, context, fewer)?.decodeTps ?? 0,
      );
    }
  });

  it('is found among few that are tried, however many the cards, and is nearly as fast as the best of all', () => {
    const { cpu, gpus } = machineOf(MACHINES.find(({ name }) => name === '12 GB') as TestMachine);
    const cards = [1, 2, 3, 4, 5, 6].map((n) => ({
      ...(gpus[0] as PlaceDevice),
      id: `card${n}`,
      bytesPerSecond: 504e9 - n * 1e9,
    }));
    let weighed = 0;
    const counted: PlaceDevice = {
      ...cpu,
      get opsPerSecond() {
        weighed += 1;
        return cpu.opsPerSecond;
      },
    };
    const sizes = sizesOf(large, 32_768, 'f16');
    const fastest = placements(sizes, { cpu: counted, gpus: cards })[0]?.decodeTps ?? 0;
    expect(weighed).toBeLessThan(12_000);
    expect(weighed).toBeGreaterThan(100);
    expect(fastest).toBeGreaterThan(0.97 * (inARow([...cards.slice(0, 3), cpu], sizes, cpu)?.decodeTps ?? Infinity));
  });

  it('is the same with two cards that are alike, whichever is named first', () => {
    const { cpu, gpus } = machineOf(MACHINES.find(({ name }) => name === '2×24 GB') as TestMachine);
    const speeds = (cards: readonly PlaceDevice[]) =>
      plansFor(large, 8192, { cpu, gpus: cards }).map((each) => each.decodeTps);
    expect(speeds([...gpus].reverse())).toEqual(speeds(gpus));
  });

  it('leaves every layer’s experts together where nobody knows which are used', () => {
    for (const { machine, plan, context } of everywhere) {
      for (const { served = [] } of plansFor(plan, context, machine))
        expect(served.filter(({ experts }) => experts)).toEqual([]);
    }
  });

  it('is no slower, and holds as much, where it is known which experts are used', () => {
    for (const { machine, plan } of withExperts) {
      const { experts } = plan.model;
      const warm = plansFor(plan, CONTEXT, machine, habitOf(plan));
      expect(warm[0]?.decodeTps ?? 0).toBeGreaterThanOrEqual(best(plan, CONTEXT, machine)?.decodeTps ?? 0);
      for (const { shares, served = [], kind } of warm) {
        const copies = kind === 'handover' ? 2 : 1;
        expect(total(shares.map(({ weightBytes }) => weightBytes)) / plan.weightBytes).toBeCloseTo(copies, 6);
        for (const device of [machine.cpu, ...machine.gpus])
          expect(total(shares.filter((share) => share.device === device.id).map(bytesOf))).toBeLessThanOrEqual(
            device.roomBytes,
          );
        const inRam = total(shares.map((share) => (share.kind === 'cpu' ? share.experts - share.layers * experts : 0)));
        if (kind !== 'handover') expect(total(served.map((each) => each.experts?.length ?? experts))).toBe(inRam);
      }
    }
  });

  it('by use is as it was judged to be right', async () => {
    const t = words.getFixedT('en') as unknown as Translate;
    const table = withExperts.flatMap(({ name, machine, plan }) => {
      const [cold, warm] = [undefined, habitOf(plan)].map((heat) => preferred(plansFor(plan, CONTEXT, machine, heat)));
      if (!cold || !warm?.served) return [];
      const onCards = total(warm.shares.map(({ kind, experts }) => (kind === 'gpu' ? experts : 0)));
      const experts = `${onCards} of ${plan.model.layers * plan.model.experts}`;
      const speeds = [cold, warm].map(({ decodeTps }) => decodeTps.toFixed(1));
      const parted = warm.served.filter((each) => each.experts).length;
      const cells = [name, plan.model.name, warm.kind, ...speeds, experts, parted, placementWords(t, warm, 'en')];
      return [`| ${cells.join(' | ')} |`];
    });
    await expect(`${[...BY_USE_HEAD, ...table].join('\n')}\n`).toMatchFileSnapshot('by-use.table.md');
  });
});

describe('experts that find no room', () => {
  const twelve = machineOf(MACHINES[1] as (typeof MACHINES)[number]);
  const hot = Array.from({ length: 24 }, () => Array.from({ length: 32 }, (_, expert) => 0.8 ** expert));
  const inRam = (plan: MemoryPlan, context: number, heat?: Heat) =>
    plansFor(plan, context, twelve, heat).find(({ kind }) => kind === 'experts_in_ram');

  it('are the least used ones where it is known which those are, and the plan is faster for it', () => {
    const [cold, warm] = [inRam(small, 32_768), inRam(small, 32_768, hot)];
    expect(warm?.decodeTps).toBeGreaterThan(1.1 * (cold?.decodeTps ?? Infinity));
    // Without knowledge whole layers stay together.
    expect(cold?.served).toEqual([18, 19, 20, 21, 22, 23].map((layer) => ({ layer })));
    for (const { experts = [0] } of warm?.served ?? [])
      expect(experts).toEqual(experts.map((_, i) => 32 - experts.length + i));
  });

  it('are told in words, in both languages', () => {
    const warm = inRam(small, 32_768, hot);
    const say = (language: Language) =>
      warm && placementWords(words.getFixedT(language) as unknown as Translate, warm, language);
    expect(say('en')).toBe(
      '12 GB card holds every layer and the experts that are used most here. The other experts, 2.3 GB, are in this computer’s memory, and the processor computes them.',
    );
    expect(say('zh-CN')).toBe(
      '12 GB card放下所有的层和这里最常用的专家。其余专家（2.3 GB）留在这台电脑的内存里，由处理器计算。',
    );
  });

  it('are learnt load by load, though only layers that lack experts are counted', () => {
    let known: Heat = [];
    const speeds = Array.from({ length: 6 }, () => {
      const plan = inRam(small, 32_768, known);
      const counted = new Set(plan?.served?.map(({ layer }) => layer));
      known = hot.map((uses, layer) => (counted.has(layer) ? uses : known[layer]));
      return plan?.decodeTps ?? 0;
    });
    expect(speeds[0]).toBe(inRam(small, 32_768)?.decodeTps);
    expect(speeds.at(-1)).toBeGreaterThan(0.95 * (inRam(small, 32_768, hot)?.decodeTps ?? Infinity));
  });

  it('are remembered as fast under another name than whole layers in memory', () => {
    const [cold, warm] = [inRam(small, 32_768), inRam(small, 32_768, hot)];
    expect(cold && devicesOf(cold)).toBe('experts_in_ram 12 GB card cpu');
    expect(warm && devicesOf(warm)).toBe('experts_in_ram by_use 12 GB card cpu');
  });

  it('leave everything else of all layers on the card', () => {
    const plan = plansFor(large, 8192, machineOf(MACHINES[3] as (typeof MACHINES)[number]))[0];
    expect(plan).toMatchObject({ kind: 'experts_in_ram', shares: [{ layers: 36 }, { layers: 0, kvBytes: 0 }] });
  });
});

it('a plan on two cards that gains little gives way to the one on one card', () => {
  const all = plansFor(small, 8192, machineOf(MACHINES[4] as (typeof MACHINES)[number]));
  const alone = all.find(({ kind }) => kind === 'gpu') as Placement;
  const faster = (by: number) => ({
    ...(all.find(({ kind }) => kind === 'tensor_parallel') as Placement),
    decodeTps: by * alone.decodeTps,
  });
  expect(preferred([faster(1.05), alone])?.kind).toBe('gpu');
  expect(preferred([faster(1.2), alone])?.kind).toBe('tensor_parallel');
  expect(preferred([])).toBeUndefined();
});

describe('prompts read on one device and answers written on another', () => {
  const device = (
    name: string,
    roomGb: number,
    bandwidthGb: number,
    teraOps: number,
    more: Partial<PlaceDevice> = {},
  ) => ({
    id: name,
    name,
    kind: 'gpu' as const,
    roomBytes: roomGb * GB,
    bytesPerSecond: bandwidthGb * GB,
    opsPerSecond: teraOps * 1e12,
    measured: true,
    unified: false,
    ...more,
  });
  const cpu = device('processor', 60, 60, 1, { kind: 'cpu' });
  const graphics = device('graphics within', 60, 60, 8, { unified: true });
  const chosenOf = (gpus: PlaceDevice[], of = small, processor: PlaceDevice = cpu): string => {
    const plan = preferred(plansFor(of, 8192, { cpu: processor, gpus }));
    const part = ({ name, weightBytes, kvBytes }: Placement['shares'][number]) =>
      `${name} ${gb(weightBytes + kvBytes)}`;
    return plan ? [plan.kind, ...plan.shares.map(part)].join(', ') : 'none';
  };

  it.each<[string, PlaceDevice[], MemoryPlan, PlaceDevice, string]>([
    [
      'a card with the bandwidth and one that multiplies',
      [device('a', 20, 900, 10), device('b', 20, 300, 80)],
      small,
      cpu,
      'handover, b 12.3, a 12.3',
    ],
    ['a card that is best at both', [device('a', 20, 900, 80), device('b', 20, 300, 10)], small, cpu, 'gpu, a 12.3'],
    ['a gain of less than a tenth', [device('a', 20, 900, 70), device('b', 20, 300, 80)], small, cpu, 'gpu, a 12.3'],
    ['no room for it twice', [device('a', 20, 900, 10), device('b', 12, 300, 80)], small, cpu, 'gpu, a 12.3'],
    [
      'graphics in the machine’s memory that multiply',
      [graphics],
      small,
      cpu,
      'handover, graphics within 12.3, processor 12.3',
    ],
    [
      'one memory that does not hold it twice',
      [{ ...graphics, roomBytes: 20 * GB }],
      small,
      { ...cpu, roomBytes: 20 * GB },
      'cpu, processor 12.3',
    ],
    ['rates that are guesses', [{ ...graphics, measured: false }], dense, cpu, 'cpu, processor 5.3'],
  ])('%s', (_, gpus, of, processor, expected) => {
    expect(chosenOf(gpus, of, processor)).toBe(expected);
  });

  it('are told in words, in both languages', () => {
    const all = plansFor(small, 8192, { cpu, gpus: [graphics] }).filter(({ kind }) => kind === 'handover');
    const say = (language: Language) =>
      all.map((each) => placementWords(words.getFixedT(language) as unknown as Translate, each, language));
    expect(say('en')).toContain(
      'graphics within reads what you write and hands it over to the processor, which writes the answers. Both hold all of it.',
    );
    expect(say('zh-CN')).toContain('graphics within读取你写的内容，再交给处理器来写回答。两者都放下整个模型。');
  });

  it('take the time of the one that reads, of the way, and of the one that writes', () => {
    const [a, b] = [device('a', 20, 900, 10), device('b', 20, 300, 80)];
    const all = plansFor(small, 8192, { cpu, gpus: [a, b] });
    const handed = all.find(
      ({ kind, shares }) => kind === 'handover' && shares[0]?.device === 'b' && shares[1]?.device === 'a',
    );
    const alone = (id: string) => all.find(({ kind, shares }) => kind === 'gpu' && shares[0]?.device === id);
    expect(handed?.decodeTps).toBe(alone('a')?.decodeTps);
    expect(handed?.prefillTps).toBeLessThan(alone('b')?.prefillTps ?? 0);
    expect(handed?.prefillTps).toBeGreaterThan(0.7 * (alone('b')?.prefillTps ?? Infinity));
  });
});

describe('shares of a layer', () => {
  it.each([
    ['are by bandwidth', [900, 300], [1, 1], [0.75, 0.25]],
    ['are no more than there is room for, and the others take the rest', [900, 300], [0.5, 1], [0.5, 0.5]],
    ['fill two that are full', [1, 1, 1], [0.2, 0.2, 1], [0.2, 0.2, 0.6]],
    ['are none where all together hold too little', [1, 1], [0.4, 0.5], undefined],
  ])('%s', (_, speeds, most, expected) => {
    const fractions = fractionsOf(
      speeds.map((bytesPerSecond) => ({ bytesPerSecond })),
      most,
    );
    expect(fractions?.map((each) => Number(each.toFixed(6)))).toEqual(expected);
  });
});

it('a dense model too long for its card keeps some layers on the processor', () => {
  const kinds = plansFor(dense, 131_072, machineOf(MACHINES[2] as (typeof MACHINES)[number])).map(({ kind }) => kind);
  expect(kinds).toContain('layers_in_ram');
});
