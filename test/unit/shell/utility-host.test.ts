// Electron's utility process as a child of the supervisor.
import { EventEmitter } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { utilityHosts } from '../../../electron/shell/utility-host';
import type { Electron } from '../../../electron/shell/types';

class FakeChild extends EventEmitter {
  pid: number | undefined = 4242;
  postMessage = vi.fn();
}

function spawn() {
  const child = new FakeChild();
  const fork = vi.fn(() => child);
  const electron = { utilityProcess: { fork } } as unknown as Electron;
  return { child, fork, host: utilityHosts(electron, '/app/runtime.js', { HEARTH_PARENT: '1' })('runtime') };
}

describe('a runtime as a utility process', () => {
  it('is started as what it is, and told whom to outlive', () => {
    const { fork } = spawn();
    expect(fork).toHaveBeenCalledWith('/app/runtime.js', ['runtime'], expect.objectContaining({ stdio: 'inherit' }));
    expect(fork.mock.calls[0]).toMatchObject([{}, {}, { env: { HEARTH_PARENT: '1' } }]);
  });

  it('its messages and its end arrive', () => {
    const { child, host } = spawn();
    const message = vi.fn();
    const exit = vi.fn();
    host.onMessage(message);
    host.onExit(exit);
    child.emit('message', { type: 'ready' });
    child.emit('exit', 9);
    expect(message).toHaveBeenCalledWith({ type: 'ready' });
    expect(exit).toHaveBeenCalledWith({ code: 9, signal: null });
  });

  it('a message to a dead child is lost without an error', () => {
    const { child, host } = spawn();
    host.onExit(() => {});
    child.emit('exit', 0);
    host.postMessage({});
    expect(child.postMessage).not.toHaveBeenCalled();
  });

  it('is killed hard', () => {
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
    spawn().host.kill();
    expect(kill).toHaveBeenCalledWith(4242, 'SIGKILL');
    kill.mockRestore();
  });
});
