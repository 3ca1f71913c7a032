/** The temporary folder of a run: the bundle, the ledger of its tools, and the state roots. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Effect {
  readonly turn: string;
  readonly call: string;
  readonly tool: string;
  readonly job: string;
  readonly moment: 'begun' | 'ended';
}

export class Place {
  constructor(readonly folder: string) {
    cpSync(join(import.meta.dir, 'bundle'), this.bundle, { recursive: true });
  }

  get bundle(): string {
    return join(this.folder, 'bundle');
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Sets whether slow tools wait (`gate`), or whether `crash` ends its process (`poison`). */
  set(name: 'gate' | 'poison', isOn: boolean): void {
    if (isOn) writeFileSync(this.path(name), '');
    else rmSync(this.path(name), { force: true });
  }

  /** Copies a state root. `cp` also copies sockets that killed processes have left. Returns the new path. */
  copy(from: string, name: string): string {
    const to = this.path(name);
    execFileSync('cp', ['-a', from, to]);
    return to;
  }

  ledger(): Effect[] {
    const path = this.path('ledger.jsonl');
    const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
    return lines.map((line) => JSON.parse(line) as Effect);
  }

  writeLedger(effects: readonly Effect[]): void {
    writeFileSync(this.path('ledger.jsonl'), effects.map((each) => `${JSON.stringify(each)}\n`).join(''));
  }
}
