/**
 * The statuses of external things that extensions depend on, such as servers. The newest status of each extension is
 * kept and published on the bus. A status is untrusted data: it is checked, its secrets are masked, and every field is
 * bounded.
 */
import type { AgentAddress, ExtensionStatus, ExtensionStatusChanged } from '@goondan/types';
import { findUnknownField, knownFields } from '../../config/find-unknown-field.ts';
import { extensionStatus } from '../../ipc/check/extension-status.ts';
import { ShapeError } from '../../ipc/check/shape.ts';
import type { SecretMask } from '../../log/mask-secrets.ts';
import { boundExtensionStatus } from '../../log/bound-extension-status.ts';

/** The event with which an extension emits a status. */
export const STATUS_EVENT = 'extension.status';

const statusFields = knownFields<ExtensionStatus>(
  'a status',
  { state: true, target: true, problem: true, lines: true, lost: true, tools: true, withheld: true },
  { status: 'state', error: 'problem', message: 'problem', reason: 'problem' },
);

export interface StatusesDeps {
  readonly address: AgentAddress;
  readonly mask: SecretMask;
  readonly now: () => Date;
  /**
   * Returns true if the agent has this tool. It is false for a tool that the agent rejected, even if a status lists the
   * tool.
   */
  readonly isTool: (name: string) => boolean;
  /** Returns the ids of the running turn; `undefined` between turns. */
  readonly currentTurn: () => { readonly turnId: string; readonly traceId: string } | undefined;
  readonly tell: (changed: ExtensionStatusChanged) => void;
  readonly refuse: (problem: string, extension: string) => void;
}

export class ExtensionStatuses {
  readonly #newest = new Map<string, ExtensionStatusChanged>();

  constructor(private readonly deps: StatusesDeps) {}

  /** The newest status of each extension that has emitted one. */
  all(): readonly ExtensionStatusChanged[] {
    return [...this.#newest.values()];
  }

  of(extension: string): ExtensionStatusChanged | undefined {
    return this.#newest.get(extension);
  }

  /** Forgets the status of an extension that is not in place any more. */
  forget(extension: string): void {
    this.#newest.delete(extension);
  }

  /** Checks, stores and publishes a status. Never throws. */
  told(extension: string, value: unknown): void {
    const { address, now, currentTurn, tell, refuse } = this.deps;
    const status = this.#read(value);
    if (typeof status === 'string') return refuse(status, extension);
    const { agentName, instanceKey } = address;
    const before = this.#newest.get(extension);
    const timestamp = now().toISOString();
    const since = before?.state === status.state ? before.since : timestamp;
    const changed = { ...status, extension, agentName, instanceKey, timestamp, since, ...currentTurn() };
    this.#newest.set(extension, changed);
    tell(changed);
  }

  #read(value: unknown): ExtensionStatus | string {
    try {
      const status = extensionStatus(value);
      // Safe: only an object is a status.
      return findUnknownField(value as object, statusFields) ?? this.#bound(status);
    } catch (error) {
      return error instanceof ShapeError ? error.message : 'its properties cannot be read';
    }
  }

  #bound(status: ExtensionStatus): ExtensionStatus {
    const { tools, ...bounded } = boundExtensionStatus(status, this.deps.mask);
    return { ...bounded, ...(tools !== undefined && { tools: tools.filter(this.deps.isTool) }) };
  }
}
