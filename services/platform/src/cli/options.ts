import type { Role } from '@countersign/contracts';
import type { ScopePreset } from '@countersign/directory/administration';

/** Options as commander hands them to a command. */
export interface KeyOptions {
  project: string;
  name: string;
  preset: ScopePreset;
  scope?: string[];
  owner?: string;
  expiresAt?: string;
  rateLimit?: number;
}

export interface UserOptions {
  project: string;
  email: string;
  name?: string;
  role?: Role;
  passwordStdin?: true;
}

export interface RangeOptions {
  from: number;
  to?: number;
}

export interface ExportOptions extends RangeOptions {
  project?: string;
  output?: string;
}

export interface EraseOptions {
  reason: string;
  metadata?: true;
  yes?: true;
}
