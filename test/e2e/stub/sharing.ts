// What the stub shares, and what another Hearth shares with it.
import type { SharedModel, Sharing } from '../../../electron/contract/sharing';

export function makeSharing(on: boolean): Sharing {
  if (!on) return { on, urls: [] };
  return { on, urls: ['http://192.168.1.20:4327'], key: 'wWc1Q0yX3m8fJ6kq2ZrT5vHn9bLd7sAe4uGiPoKxEtM' };
}

export function makeShelf(): SharedModel[] {
  const files = [{ path: 'gpt-oss-20b-mxfp4.gguf', bytes: 12.1e9, sha256: 'a'.repeat(64) }];
  const licence = 'apache-2.0';
  return [
    { id: 'a'.repeat(32), name: 'gpt-oss-20b-mxfp4', bytes: 12.1e9, quantization: 'MXFP4', licence, files },
    { id: 'b'.repeat(32), name: 'qwen3-8b-q5_k_m', bytes: 5.9e9, quantization: 'Q5_K_M', licence },
  ];
}
