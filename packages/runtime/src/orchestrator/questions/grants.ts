/**
 * Answers that people gave for always. They answer later questions about the same tool of the same conversation.
 *
 * Invariants:
 * 1. A grant answers a question only if all of these are the same: the conversation, the asking extension, the tool, its
 *    fingerprint, and, unless it is for the whole tool, the arguments. It also answers those that are open when it is given.
 * 2. A grant that was revoked answers no question that is asked afterwards, at any node.
 * 3. A client of a connection may answer only questions of its own turns. So its grant answers only those, too.
 * 4. The grants of a conversation are removed before the conversation is, or with it, so that a crash leaves none to the next one.
 */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import { toAgentAddress } from '../../control/instance-address.ts';
import { toFrameError } from '../../ipc/check/frame-error.ts';
import {
  allows,
  type GrantRevocation,
  type GrantSummary,
  grantOf,
  isGrant,
  unknownGrant,
} from '../../questions/grant-summary.ts';
import { endedError } from '../../questions/check-reply.ts';
import { questionDigest } from '../../questions/question-digest.ts';
import type { QuestionRecord } from '../../questions/question-record.ts';
import { isSameAddress } from '../address/address-key.ts';
import { type AskFrame, rootIn } from './asked-question.ts';
import type { QuestionBook } from './question-book.ts';
import type { QuestionVoice } from './question-voice.ts';
import type { QuestionsDeps } from './questions-deps.ts';

export class Grants {
  constructor(
    private readonly book: QuestionBook,
    private readonly deps: Pick<QuestionsDeps, 'store' | 'nodes' | 'maskFor'>,
    private readonly voice: QuestionVoice,
  ) {}

  /** Lists the grants, oldest first. */
  list(): readonly GrantSummary[] {
    return this.book.all().flatMap(({ record }) => grantOf(record) ?? []);
  }

  /** Removes a grant. **Errors** — `E_QUESTION_UNKNOWN`; `E_QUESTION_ENDED` if it is revoked; those of the disk. */
  async revoke(revocation: GrantRevocation): Promise<void> {
    const { id, by } = revocation;
    const entry = this.book.entries.get(id);
    if (entry === undefined || !isGrant(entry.record)) {
      const ended = this.book.ended.get(id)?.ended;
      throw ended?.revoked === undefined ? unknownGrant(id) : endedError(id, ended);
    }
    await this.#remove(id);
    this.book.remember(entry, { by });
    this.voice.revoked(entry.record, revocation);
  }

  /** Removes all grants of an instance, because its conversation ends. **Errors** — those of the disk. */
  async end(at: AgentAddress): Promise<void> {
    // Another node may have stored one that this node has not heard of yet.
    const records = (await this.deps.nodes?.list(at)) ?? this.book.recordsOf(at);
    for (const record of records) {
      if (isGrant(record) && isSameAddress(toAgentAddress(record), at)) await this.#remove(record.id);
    }
  }

  /** Returns the grant that allows the call of a question; `undefined` if there is none. */
  find(at: AgentAddress, asked: Parameters<typeof allows>[1]): QuestionRecord | undefined {
    return this.book.of(at).find(({ stage, record }) => stage === 'answered' && allows(record, asked))?.record;
  }

  /** Answers a question with a grant. Returns false if there is none. `again` asks once more without the one that was tried. */
  use(at: AgentAddress, during: AgentEvent, frame: AskFrame, again: () => void): boolean {
    const root = rootIn({ during, mask: this.deps.maskFor(at.agentName) });
    const asked = { ...frame, digest: questionDigest(frame), ...(root && { root }) };
    const grant = this.find(at, asked);
    if (grant === undefined) return false;
    const answer = () => this.voice.granted(at, during, frame.callId, grant);
    if (this.deps.nodes === undefined) answer();
    else
      void this.#checkStored(this.deps.nodes, grant).then(
        () => (this.book.entries.has(grant.id) ? answer() : again()),
        (error: unknown) => this.voice.refuse(at, frame.callId, toFrameError(error, 'E_STORE_READ')),
      );
    return true;
  }

  async #remove(id: string): Promise<void> {
    const entry = this.book.entries.get(id);
    // First, so that no question is answered by it from now on.
    this.book.entries.delete(id);
    try {
      await this.deps.store.remove(id);
    } catch (error) {
      // The store still has it, so that it must not be missed when it is to be removed again.
      if (entry !== undefined) this.book.entries.set(id, entry);
      throw error;
    }
  }

  /** Forgets the grant if another node has revoked it, which this one may not have heard yet. */
  async #checkStored(nodes: NonNullable<QuestionsDeps['nodes']>, grant: QuestionRecord): Promise<void> {
    const stored = await nodes.list(toAgentAddress(grant));
    if (!stored.some((each) => each.id === grant.id && isGrant(each))) this.book.entries.delete(grant.id);
  }
}
