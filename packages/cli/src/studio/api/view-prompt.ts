/** The prompt of one model call, as Studio shows it: texts within limits, and authors in words. */
import type { RebuiltMessage, TurnPrompts } from '@goondan/runtime/history';
import { GoondanError, type ModelMessage } from '@goondan/types';
import { describePart } from '../../history/describe-message.ts';
import { describePartAuthor } from '../../trace/describe-part-author.ts';
import { describeUnsent } from '../../trace/describe-unsent.ts';
import type { PromptView, ShownText } from '../contract.ts';

/** The maximum number of messages, and of characters of one part and of the body. */
const MOST_MESSAGES = 200;
const LONGEST_PART = 20_000;
const LONGEST_BODY = 500_000;

/** The calls with the same key, of which the last run counts. **Errors** — `E_TRACE_UNKNOWN`, with the reason. */
export function viewPrompt({ calls, unsent }: Pick<TurnPrompts, 'calls' | 'unsent'>): PromptView {
  const call = calls.at(-1);
  if (call === undefined) {
    throw new GoondanError('E_TRACE_UNKNOWN', describeUnsent(unsent.at(-1) ?? { why: 'unknown' }), {
      suggestion: 'Only a call that reached the model has a prompt.',
    });
  }
  const { request, isExact, problems, provider, model, package: made, body, reply, error } = call;
  const shown = request.messages.slice(-MOST_MESSAGES);
  return {
    isExact,
    problems: problems.map(({ message }) => message),
    provider,
    ...(model === undefined ? {} : { model }),
    ...(made === undefined ? {} : { package: made }),
    modelRef: request.modelRef,
    modelAuthor: describePartAuthor(request.modelAuthor),
    earlier: request.messages.length - shown.length,
    messages: shown.map(viewMessage),
    tools: request.tools.map(({ name, tool, author }) => ({
      name,
      author: describePartAuthor(author),
      ...cut(tool?.description ?? '(not kept)'),
    })),
    params: request.params.map(({ name, value, author }) => ({
      name,
      author: describePartAuthor(author),
      ...cut(value === undefined ? 'not set' : JSON.stringify(value)),
    })),
    ...(request.outputAuthor === undefined
      ? {}
      : {
          schema: {
            author: describePartAuthor(request.outputAuthor),
            ...cut(JSON.stringify(request.fields.outputSchema, undefined, 2)),
          },
        }),
    ...(body === undefined ? {} : { body: cut(JSON.stringify(body, undefined, 2), LONGEST_BODY) }),
    ...(reply === undefined
      ? {}
      : {
          reply: {
            finishReason: reply.finishReason,
            tokens: { input: reply.usage.inputTokens, output: reply.usage.outputTokens },
            ...cut(reply.content.map(describePart).join('\n')),
          },
        }),
    ...(error === undefined
      ? {}
      : { error: error.code === undefined ? error.message : `${error.code}: ${error.message}` }),
  };
}

function viewMessage({ message, author, count = 1 }: RebuiltMessage): PromptView['messages'][number] {
  const gone = `${count === 1 ? 'This message is' : `${count} messages are`} not there any more.`;
  return {
    role: message?.role ?? 'missing',
    author: describePartAuthor(author),
    ...cut(message === undefined ? gone : textOf(message)),
  };
}

function textOf({ content }: ModelMessage): string {
  return typeof content === 'string' ? content : content.map(describePart).join('\n');
}

function cut(text: string, longest = LONGEST_PART): ShownText {
  if (text.length <= longest) return { text };
  return { text: text.slice(0, longest).toWellFormed(), characters: text.length };
}
