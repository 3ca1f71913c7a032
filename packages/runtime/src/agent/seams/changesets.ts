/**
 * The seam between a tool and the bundle of its swarm. In an agent process, `process/ipc-changesets.ts` implements it and
 * forwards requests to the orchestrator, which keeps the changesets and replaces the files.
 *
 * Invariants that every implementation guarantees: a changeset belongs to the conversation that opened it, and a commit
 * that is asked for again after a crash has the outcome of the first one.
 */
import { GoondanError } from '@goondan/types';
import type { ChangesetAnswers } from '../../ipc/changeset-answers.ts';
import type { ChangesetRequest } from '../../ipc/from-agent.ts';

export interface Changesets {
  /** The name of the swarm for runtime events; empty for an agent that runs alone. */
  readonly swarmName: string;
  /** Waits for the answer without a time limit. Rejects with the signal's reason when it aborts. */
  ask<Kind extends ChangesetRequest['kind']>(
    request: Extract<ChangesetRequest, { readonly kind: Kind }>,
    signal: AbortSignal,
  ): Promise<ChangesetAnswers[Kind]>;
}

/** The changesets of an agent that runs alone; every request is rejected. */
export const noChangesets: Changesets = {
  swarmName: '',
  ask: () =>
    Promise.reject(
      new GoondanError('E_CHANGESET_SOURCE', 'This agent runs alone, so there is no bundle that it could change.'),
    ),
};
