/** `message-compaction`: replaces the oldest part of a long conversation with a summary. */
import {
  createSystemMessage,
  type ExtensionRegister,
  type Message,
  type StepMiddlewareContext,
  type TurnMiddlewareContext,
} from '@goondan/types';
import { chooseRemoved } from '../../history/choose-removed.ts';
import { protectNewest } from '../../history/protect-newest.ts';
import { type CompactionConfig, readLimits } from './limits.ts';
import { summarise } from './summarise.ts';

type Layer = TurnMiddlewareContext | StepMiddlewareContext;

/** A key in the turn's metadata. It is set when a summary failed, so that no other summary is tried in this turn. */
const FAILED = 'message-compaction.failed';

export const register: ExtensionRegister<CompactionConfig> = (api, config) => {
  const { limits, targets, summaryTokens } = readLimits(config);
  let hasWarned = false;
  // The compaction runs at the start of the turn and not in its first step, because a retried step loses its changes.
  // It runs before every further step, because a turn can be long.
  api.pipeline.register('turn', async (ctx) => (await compact(ctx), ctx.next()), { name: 'compaction' });
  api.pipeline.register('step', async (ctx) => (ctx.stepIndex > 0 && (await compact(ctx)), ctx.next()), {
    name: 'compaction',
  });

  async function compact(ctx: Layer): Promise<void> {
    if (ctx.metadata[FAILED] === true) return;
    const { conversationState } = ctx;
    const isNeeded = protectNewest(conversationState);
    const { removed, isEnough } = chooseRemoved({
      messages: conversationState.nextMessages,
      limits,
      targets,
      isProtected: (message) => isNeeded(message) || !isEligible(message, config),
    });
    if (!isEnough) warnOnce();
    const [first, ...others] = removed;
    // Summarising only the last summary would gain nothing.
    if (first === undefined || (others.length === 0 && isSummary(first))) return;
    const summary = await trySummary(ctx, removed);
    if (summary === undefined) return;
    const metadata = { [SUMMARY]: true, 'compaction.replaced': removed.length };
    const message = createSystemMessage(summary, metadata, { id: idOf(ctx) });
    ctx.emitMessageEvent({ type: 'replace', targetId: first.id, message });
    for (const { id } of others) ctx.emitMessageEvent({ type: 'remove', targetId: id });
    api.logger.info(`A summary has taken the place of ${removed.length} messages.`);
  }

  /**
   * Makes the summary. Returns `undefined` if that fails. The conversation then continues unchanged, because losing
   * messages or the turn would be worse.
   */
  async function trySummary(ctx: Layer, messages: readonly Message[]): Promise<string | undefined> {
    try {
      return await summarise(ctx, messages, summaryTokens, config);
    } catch (error) {
      if (ctx.signal.aborted) throw error;
      ctx.metadata[FAILED] = true;
      const problem = error instanceof Error ? error.message : String(error);
      api.logger.warn(`No summary was made, and nothing was removed: ${problem}`);
      return undefined;
    }
  }

  function warnOnce(): void {
    if (hasWarned) return;
    hasWarned = true;
    api.logger.warn('The pinned, newest and ineligible messages alone exceed the limits.');
  }
};

const SUMMARY = 'compaction.summary';

function isSummary({ metadata }: Message): boolean {
  return metadata[SUMMARY] === true;
}

function isEligible(message: Message, { eligible = 'all' }: CompactionConfig): boolean {
  return eligible === 'all' || isSummary(message) || message.metadata['compaction.eligible'] === true;
}

/** Returns the id of the summary, which is the same when the turn is resumed. */
function idOf(ctx: Layer): string {
  return 'stepIndex' in ctx ? `${ctx.turnId}.summary-${ctx.stepIndex}` : `${ctx.turnId}.summary`;
}
