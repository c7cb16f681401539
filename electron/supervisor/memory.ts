// What the machine has of memory, and has free, now. Numbers only: who may take them is the broker's decision.
import { freemem, totalmem } from 'node:os';

export interface MachineMemory {
  totalBytes: number;
  /** Without what must be taken from other programs; files in the system's cache give way and count as free. */
  freeBytes: number;
}

/** Within a container, what its limit leaves. */
export function machineMemory(): MachineMemory {
  const limit = process.constrainedMemory();
  const total = totalmem();
  return {
    totalBytes: limit && limit < total ? limit : total,
    freeBytes: Math.min(freemem(), process.availableMemory()),
  };
}
