// Versions of a message: all reachable, none lost, and a broken tree does not hang the page.
import type { Message } from '@contract/own';
import { describe, expect, it } from 'vitest';
import { branchOf } from '../../../electron/contract/branch';
import { headThrough, versionsOf } from '../../../renderer/state/branch';

let time = 0;
const message = (id: string, parentId: string | null, role: Message['role'] = 'user'): Message => ({
  id,
  chatId: 'c',
  parentId,
  role,
  text: id,
  reasoning: '',
  status: 'complete',
  createdAt: ++time,
});

const tree = [
  message('u1', null),
  message('a1', 'u1', 'assistant'),
  message('a2', 'u1', 'assistant'),
  message('u2', 'a1'),
  message('a3', 'u2', 'assistant'),
];
const ids = (messages: Message[]): string => messages.map(({ id }) => id).join(' ');

describe('branches', () => {
  it('follows the branch of the head', () => {
    expect(ids(branchOf(tree, 'a3'))).toBe('u1 a1 u2 a3');
    expect(ids(branchOf(tree, 'a2'))).toBe('u1 a2');
    expect(ids(branchOf(tree, null))).toBe('');
  });

  it('finds all versions, and the newest end through one', () => {
    expect(ids(versionsOf(tree, tree[2] as Message))).toBe('a1 a2');
    expect(headThrough(tree, 'a1')).toBe('a3');
    expect(headThrough(tree, 'a2')).toBe('a2');
  });

  it('does not hang on a loop or a missing parent', () => {
    const loop = [message('x', 'y'), message('y', 'x')];
    expect(branchOf(loop, 'x')).toHaveLength(2);
    expect(['x', 'y']).toContain(headThrough(loop, 'x'));
    expect(ids(branchOf([message('z', 'gone')], 'z'))).toBe('z');
  });
});
