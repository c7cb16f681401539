// Who gets how much memory, as a table of situations.
import { describe, expect, it } from 'vitest';
import {
  both,
  expired,
  place,
  regrow,
  relieve,
  type Ask,
  type Placement,
  type Tenant,
} from '../../../electron/supervisor/broker';

/** In gigabytes, which read better. */
const tenant = (path: string, more: Partial<Tenant> = {}): Tenant => ({
  path,
  weightBytes: 4,
  heldBytes: 0,
  kvMin: 1,
  kvMax: 3,
  kvGrant: 3,
  busy: false,
  lastUsedAt: 0,
  ...more,
});
const ask = (more: Partial<Ask> = {}): Ask => ({
  path: 'new',
  weightBytes: 4,
  heldBytes: 0,
  kvMin: 1,
  kvMax: 3,
  coldBytes: 0,
  ...more,
});

describe('a model that wants to come', () => {
  it.each([
    ['gets all that it can use where there is room', [], 20, { kind: 'grant', kvBytes: 3, shrink: [] }],
    [
      'gets what is left, but not less than a conversation',
      [tenant('a')],
      12.5,
      { kind: 'grant', kvBytes: 1.5, shrink: [] },
    ],
    [
      'makes idle conversations shrink before anything is unloaded, the oldest first and no more than needed',
      [tenant('old'), tenant('young', { lastUsedAt: 9 })],
      17,
      { kind: 'grant', kvBytes: 1, shrink: [{ path: 'old', kvBytes: 1 }] },
    ],
    [
      'shrinks two where one is not enough',
      [tenant('old'), tenant('young', { lastUsedAt: 9 })],
      16,
      {
        kind: 'grant',
        kvBytes: 1,
        shrink: [
          { path: 'old', kvBytes: 1 },
          { path: 'young', kvBytes: 2 },
        ],
      },
    ],
    [
      'sends the least recently used idle model away',
      [tenant('old', { lastUsedAt: 1 }), tenant('young', { lastUsedAt: 9 })],
      13,
      { kind: 'evict', paths: ['old'] },
    ],
    [
      'spares the idle when that helps nobody: the large one that must end is enough',
      [
        tenant('small', { weightBytes: 0.1, kvGrant: 0, kvMin: 0 }),
        tenant('large', { busy: true, weightBytes: 9, kvGrant: 1 }),
      ],
      11,
      { kind: 'wait', paths: ['large'] },
    ],
    ['waits for running answers to end', [tenant('a', { busy: true })], 9, { kind: 'wait', paths: ['a'] }],
    ['does not shrink a busy one', [tenant('a', { busy: true })], 11, { kind: 'wait', paths: ['a'] }],
    [
      'is refused with both numbers where it never fits',
      [tenant('a')],
      4.5,
      { kind: 'refuse', needed: 5, available: 4.5 },
    ],
  ] as [string, Tenant[], number, unknown][])('%s', (_, tenants, limit, expected) => {
    expect(place(ask(), tenants, limit)).toEqual(expected);
  });

  it('may leave some of its experts on the disk, alone', () => {
    const large = ask({ weightBytes: 12, coldBytes: 3 });
    expect(place(large, [], 10.5)).toEqual({ kind: 'grant', kvBytes: 1, shrink: [] });
    expect(place(large, [tenant('a')], 10.5)).toEqual({ kind: 'evict', paths: ['a'] });
    expect(place(large, [], 9.5)).toMatchObject({ kind: 'refuse' });
  });

  it('takes the place of itself when it is loaded anew, and is never there twice', () => {
    expect(place(ask({ path: 'a' }), [tenant('a')], 100)).toEqual({ kind: 'evict', paths: ['a'] });
    expect(place(ask({ path: 'a' }), [tenant('a', { busy: true })], 100)).toEqual({ kind: 'wait', paths: ['a'] });
  });

  it('never brings the sum of what was promised above the limit', () => {
    for (let seed = 1; seed < 2000; seed++) {
      const random = (n: number) => ((seed * 7919 + n * 104_729) % 1000) / 100;
      const tenants = [1, 2, 3].map((n) => {
        const kvMin = random(n) / 4;
        return tenant(`t${n}`, {
          weightBytes: random(n + 3),
          kvMin,
          kvGrant: kvMin + random(n + 6) / 4,
          busy: random(n) > 5,
        });
      });
      const limit = 10 + random(9) * 2;
      if (tenants.reduce((sum, { weightBytes, kvGrant }) => sum + weightBytes + kvGrant, 0) > limit) continue;
      const placement = place(ask(), tenants, limit);
      if (placement.kind !== 'grant') continue;
      const shrunk = new Map(placement.shrink.map(({ path, kvBytes }) => [path, kvBytes]));
      const after = tenants.reduce((sum, t) => sum + t.weightBytes + (shrunk.get(t.path) ?? t.kvGrant), 0);
      expect(after + 4 + placement.kvBytes).toBeLessThanOrEqual(limit + 1e-9);
      for (const t of tenants) expect(shrunk.get(t.path) ?? t.kvGrant).toBeGreaterThanOrEqual(t.kvMin - 1e-9);
    }
  });
});

describe('room that is left', () => {
  it('goes to the busy first, up to what they were loaded with', () => {
    const tenants = [tenant('idle', { kvGrant: 1 }), tenant('busy', { kvGrant: 1, busy: true })];
    expect(regrow(tenants, 12.5)).toEqual([
      { path: 'busy', kvBytes: 3 },
      { path: 'idle', kvBytes: 1.5 },
    ]);
    expect(regrow(tenants, 9)).toEqual([]);
  });

  it('is made again when other programs took it: conversations first, then whole models', () => {
    const tenants = [tenant('a', { heldBytes: 1 }), tenant('b', { busy: true })];
    expect(relieve(tenants, 0)).toEqual({ shrink: [], evict: [] });
    expect(relieve(tenants, 1.5)).toEqual({ shrink: [{ path: 'a', kvBytes: 1.5 }], evict: [] });
    expect(relieve(tenants, 3)).toEqual({ shrink: [], evict: ['a'] });
    expect(relieve([tenant('b', { busy: true })], 3)).toEqual({ shrink: [], evict: [] });
  });
});

describe('an idle model', () => {
  it('goes after the time that was set, a busy one never, and none where nothing is set', () => {
    const tenants = [
      tenant('a', { lastUsedAt: 100 }),
      tenant('b', { lastUsedAt: 100, busy: true }),
      tenant('c', { lastUsedAt: 900 }),
    ];
    expect(expired(tenants, 500, 1000)).toEqual(['a']);
    expect(expired(tenants, 0, 1e9)).toEqual([]);
  });
});

describe('a model that needs two memories', () => {
  const grant: Placement = { kind: 'grant', kvBytes: 2, shrink: [{ path: 'a', kvBytes: 1 }] };
  const refuse: Placement = { kind: 'refuse', needed: 2, available: 1 };
  it.each([
    [
      'comes when both let it in, with the conversation that both allow',
      grant,
      {
        kind: 'grant',
        kvBytes: 3,
        shrink: [
          { path: 'a', kvBytes: 2 },
          { path: 'b', kvBytes: 5 },
        ],
      },
      {
        ...grant,
        shrink: [
          { path: 'a', kvBytes: 1 },
          { path: 'b', kvBytes: 5 },
        ],
      },
    ],
    ['does not come where one refuses', { kind: 'wait', paths: ['a'] }, refuse, refuse],
    [
      'waits before it sends anybody away',
      { kind: 'evict', paths: ['b'] },
      { kind: 'wait', paths: ['a'] },
      { kind: 'wait', paths: ['a'] },
    ],
    [
      'sends away whom either needs gone, each once',
      { kind: 'evict', paths: ['a'] },
      { kind: 'evict', paths: ['a', 'b'] },
      { kind: 'evict', paths: ['a', 'b'] },
    ],
    ['is not let in by one alone', grant, { kind: 'evict', paths: ['b'] }, { kind: 'evict', paths: ['b'] }],
  ] satisfies [string, Placement, Placement, Placement][])('%s', (_, one, two, expected) => {
    expect(both(one, two)).toEqual(expected);
  });
});
