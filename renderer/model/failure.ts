// What to offer after a load that failed: for each reason the one thing that is most likely to help. Pure.
import type { ErrorCode } from '@contract/errors';

export type FailureAction = 'smaller' | 'find' | 'retry';

const ACTIONS: Partial<Record<ErrorCode, FailureAction>> = {
  out_of_ram: 'smaller',
  out_of_vram: 'smaller',
  bad_file: 'find',
  incomplete_model: 'find',
  file_not_found: 'find',
  unsupported_architecture: 'find',
  unsupported_type: 'find',
};

export const failureAction = (code: ErrorCode): FailureAction => ACTIONS[code] ?? 'retry';
