// The list of stored blocks with their hashes, beside the part file: a head, then one record for each block, appended. A record that was
// torn by a crash ends the list. Pure encoding; part-file.ts writes it.
import { crc32 } from 'node:zlib';

const MAGIC = 0x484a3031; // "HJ01"
export const HEAD_BYTES = 16;
export const RECORD_BYTES = 40;
export const HASH_BYTES = 32;

export function journalHead(size: number, blockBytes: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(MAGIC, 0);
  head.writeUInt32BE(blockBytes, 4);
  head.writeBigUInt64BE(BigInt(size), 8);
  return head;
}

export function journalRecord(index: number, hash: Uint8Array): Buffer {
  const record = Buffer.alloc(RECORD_BYTES);
  record.writeUInt32BE(index, 0);
  record.set(hash, 4);
  record.writeUInt32BE(crc32(record.subarray(0, 36)), 36);
  return record;
}

export interface Journal {
  /** Hash of each stored block, the latest where one was stored twice. */
  hashes: Map<number, Buffer>;
  /** Up to where it can be believed. */
  bytes: number;
}

/** Undefined where it is of another file, or none. */
export function readJournal(content: Buffer, size: number, blockBytes: number): Journal | undefined {
  if (content.length < HEAD_BYTES || !content.subarray(0, HEAD_BYTES).equals(journalHead(size, blockBytes)))
    return undefined;
  const hashes = new Map<number, Buffer>();
  const blocks = Math.ceil(size / blockBytes);
  let at = HEAD_BYTES;
  for (; at + RECORD_BYTES <= content.length; at += RECORD_BYTES) {
    const record = content.subarray(at, at + RECORD_BYTES);
    const index = record.readUInt32BE(0);
    if (record.readUInt32BE(36) !== crc32(record.subarray(0, 36)) || index >= blocks) break;
    hashes.set(index, Buffer.from(record.subarray(4, 36)));
  }
  return { hashes, bytes: at };
}
