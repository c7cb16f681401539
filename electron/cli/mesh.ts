// The words after `--mesh`: several devices that share a model, for whoever wants to try a division by hand. Pure.
import { mesh, type Mesh } from '../contract/runtime';

/** 'tensor:cpu,vulkan:…=2' (with shares of the work) or 'layers:vulkan:…=20,cpu=4' (so many each); '+0,4-7' behind it: layers whose experts the processor has,
 * '+0,4-7:0-15:20': of the last four those experts. 'handover:vulkan:…,cpu': the first reads prompts, the second writes. */
export function meshOf(text: string): Mesh | undefined {
  const [, split, devices, , served] =
    /^(tensor|layers|handover):([^+]+)(\+(\d+(?:-\d+)?(?:[,:]\d+(?:-\d+)?)*))?$/.exec(text) ?? [];
  if (devices === undefined) return undefined;
  const ranks = devices.split(',').map((each) => {
    const [device, amount] = each.split('=');
    const given =
      amount === undefined ? {} : split === 'tensor' ? { share: Number(amount) } : { layers: Number(amount) };
    return { device, ...given };
  });
  const parsed = mesh.safeParse({
    split,
    ranks,
    served: served === undefined ? [] : served.split(',').flatMap(servedOf),
  });
  return parsed.data;
}

function servedOf(text: string): { layer: number; experts?: number[] }[] {
  const [layers = '', ...experts] = text.split(':');
  const some = experts.length > 0 ? { experts: experts.flatMap(range) } : {};
  return range(layers).map((layer) => ({ layer, ...some }));
}

/** '4-7' or '4'; what runs backwards or too far is no number, which the shape refuses. */
function range(text: string): number[] {
  const [first = NaN, last = first] = text.split('-').map(Number);
  return first <= last && last < 4096 ? Array.from({ length: last - first + 1 }, (_, i) => first + i) : [NaN];
}
