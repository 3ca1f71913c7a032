/** Prints the model calls of a turn for `gdn trace --prompt`: the request part by part, with authors, and the reply. */
import type { CallPrompt, RebuiltMessage, RebuiltTool, TurnPrompts, UnsentCall } from '@goondan/runtime/history';
import { describeUnfit, shortTurnId } from '@goondan/runtime/internal';
import type { ModelMessage, ModelReply } from '@goondan/types';
import { wrapWords } from '../fit-width.ts';
import { harmlessLines, harmlessText } from '../harmless-text.ts';
import { describePart } from '../history/describe-message.ts';
import { showTime } from '../show-time.ts';
import type { Terminal } from '../terminal.ts';
import { describePartAuthor } from './describe-part-author.ts';
import { describeUnsent } from './describe-unsent.ts';

/** The maximum number of characters of one part, and of messages of one request, unless everything is printed. */
const LONGEST_PART = 1_200;
const MOST_MESSAGES = 24;
/** The number of messages at the beginning that are printed when others are left out. */
const FIRST_MESSAGES = 4;
const INDENT = '    ';

type PromptTerminal = Pick<Terminal, 'colors' | 'columns' | 'isWatched'>;

/** `isFull`: every part is printed in full, and each request repeats the messages of the request before. */
export function renderPrompts({ turn, calls, unsent }: TurnPrompts, isFull: boolean, terminal: PromptTerminal): string {
  const head = `turn ${harmlessText(shortTurnId(turn.turnId))} of ${harmlessText(turn.agentName)}, ${showTime(turn.startedAt, terminal)}`;
  const page = new PromptPage(terminal, isFull);
  page.add(terminal.colors.dim(head));
  for (const [index, call] of calls.entries()) page.addCall(call, isFull ? undefined : calls[index - 1]);
  for (const call of unsent) page.addUnsent(call);
  if (calls.length + unsent.length === 0) page.add(harmlessText(describeNoCall(turn)));
  return page.text();
}

function describeNoCall({ error, ending }: TurnPrompts['turn']): string {
  if (error !== undefined) return `The turn called no model, because it failed before: ${error}`;
  return ending === undefined ? 'The turn has called no model yet.' : 'The turn called no model.';
}

class PromptPage {
  readonly #lines: string[] = [];

  constructor(
    private readonly terminal: PromptTerminal,
    private readonly isFull: boolean,
  ) {}

  text(): string {
    return this.#lines.map((line) => `${line.trimEnd()}\n`).join('');
  }

  add(line: string): void {
    this.#lines.push(line);
  }

  addCall(call: CallPrompt, before: CallPrompt | undefined): void {
    const { colors } = this.terminal;
    const { provider, model, request, by, step, effect, run } = call;
    const place = step === undefined ? 'between steps' : `step ${step}`;
    const asker = by === undefined ? '' : `, asked by extension ${by.extension}`;
    const again = run === 0 ? '' : `, run ${run + 1}`;
    const called = `${request.modelRef} (${[provider, model].filter((each) => each !== undefined).join(' ')})`;
    this.add('');
    this.add(
      `${colors.bold(harmlessText(`${place}${asker}${again}`))}  ${harmlessText(called)}  ${colors.dim(harmlessText(effect))}`,
    );
    if (request.modelAuthor.kind !== 'agent') this.add(`model chosen by ${this.#author(request.modelAuthor)}`);
    this.#addVerdict(call);
    this.#addMessages(request.messages, before?.request.messages ?? [], textOfBody(call));
    this.#addTools(request.tools, before?.request.tools ?? []);
    for (const { name, value, author } of request.params) {
      const shown = value === undefined ? 'not set' : JSON.stringify(value);
      this.add(`${colors.cyan('param')} ${harmlessText(`${name}: ${shown}`)}  ${this.#author(author)}`);
    }
    this.#addSchema(request);
    this.#addReply(call);
  }

  addUnsent(call: UnsentCall): void {
    const { step, modelRef, effect } = call;
    const place = step === undefined ? 'between steps' : `step ${step}`;
    this.add('');
    this.add(
      `${this.terminal.colors.bold(place)}  ${harmlessText(modelRef)}  ${this.terminal.colors.dim(harmlessText(effect))}`,
    );
    this.add(harmlessText(describeUnsent(call)));
  }

  #addVerdict({ isExact, problems, package: made }: CallPrompt): void {
    const { colors } = this.terminal;
    const by = made === undefined ? 'the request' : `the body that ${harmlessText(made)} sent`;
    if (isExact) return this.add(`${colors.green('exact')}  ${by}`);
    this.add(`${colors.red('not exact')}  ${problems.map(({ message }) => harmlessText(message)).join('; ')}`);
  }

  #addMessages(messages: readonly RebuiltMessage[], before: readonly RebuiltMessage[], body: string): void {
    const same = countSame(messages, before);
    if (same > 0) this.add(this.terminal.colors.dim(`${firstOnes(same)} of the request before`));
    const rest = messages.slice(same);
    const left = this.isFull || rest.length <= MOST_MESSAGES ? 0 : rest.length - MOST_MESSAGES;
    for (const [index, each] of rest.entries()) {
      if (left > 0 && index === FIRST_MESSAGES) this.#note(`${counted(left)} left out`);
      if (left > 0 && index >= FIRST_MESSAGES && index < FIRST_MESSAGES + left) continue;
      this.#addMessage(each, body);
    }
  }

  #addTools(tools: readonly RebuiltTool[], before: readonly RebuiltTool[]): void {
    const { colors } = this.terminal;
    if (tools.length > 0 && Bun.deepEquals(tools, before)) {
      return this.add(colors.dim('the tools are those of the request before'));
    }
    for (const { name, tool, author } of tools) {
      this.add(`${colors.cyan('tool')} ${harmlessText(name)}  ${this.#author(author)}`);
      this.#addText(tool?.description ?? '(not kept)');
      if (this.isFull && tool?.parameters !== undefined)
        this.#addText(`parameters: ${JSON.stringify(tool.parameters)}`);
    }
  }

  #addMessage({ message, author, count }: RebuiltMessage, body: string): void {
    const { colors } = this.terminal;
    const role = message?.role ?? (count === undefined ? 'message' : counted(count));
    this.add(`${colors.cyan(harmlessText(role))}  ${this.#author(author)}`);
    this.#addText(message === undefined ? '(not there any more)' : textOf(message, body));
  }

  #addSchema({ outputAuthor, fields: { outputSchema } }: CallPrompt['request']): void {
    if (outputAuthor === undefined) return;
    this.add(`${this.terminal.colors.cyan('schema')} of the answer  ${this.#author(outputAuthor)}`);
    this.#addText(JSON.stringify(outputSchema));
  }

  #addReply({ reply, error }: CallPrompt): void {
    const { colors } = this.terminal;
    if (error !== undefined) {
      const code = error.code === undefined ? '' : `${error.code}: `;
      return this.add(`${colors.red('failed')}  ${harmlessText(`${code}${error.message}`)}`);
    }
    if (reply === undefined) return this.add(`${colors.cyan('reply')}  too long to keep`);
    this.add(`${colors.cyan('reply')}  ${harmlessText(describeReply(reply))}`);
    for (const part of reply.content) this.#addText(describePart(part));
  }

  #author(author: RebuiltMessage['author']): string {
    return this.terminal.colors.dim(harmlessText(describePartAuthor(author)));
  }

  /** Adds a text below its heading, wrapped at a terminal, and cut unless everything is printed. */
  #addText(given: string): void {
    const text = given.trimEnd();
    const isCut = !this.isFull && text.length > LONGEST_PART;
    const shown = isCut ? text.slice(0, LONGEST_PART).toWellFormed() : text;
    const { columns } = this.terminal;
    for (const line of harmlessLines(shown).split('\n')) {
      this.add(wrapWords(`${INDENT}${line}`, columns));
    }
    if (isCut) this.#note(`${text.length - LONGEST_PART} more characters`);
  }

  #note(text: string): void {
    this.add(`${INDENT}${this.terminal.colors.dim(`… ${text}; --full shows everything`)}`);
  }
}

/** Counts the messages at the beginning that are the same and have the same authors. */
function countSame(messages: readonly RebuiltMessage[], before: readonly RebuiltMessage[]): number {
  const differs = ({ digest, author }: RebuiltMessage, at: number) =>
    digest !== before[at]?.digest || !Bun.deepEquals(author, before[at].author);
  const first = messages.findIndex(differs);
  return first < 0 ? messages.length : first;
}

function firstOnes(count: number): string {
  return count === 1 ? 'the first message is that' : `the first ${counted(count)} are those`;
}

function counted(count: number): string {
  return count === 1 ? '1 message' : `${count} messages`;
}

function textOf({ content }: ModelMessage, body: string): string {
  if (typeof content === 'string') return content;
  return content.map((part) => unfitIn(part, body) ?? describePart(part)).join('\n');
}

/** Returns the text in place of a file, if the body has it: the provider does not take the file. */
function unfitIn(part: Exclude<ModelMessage['content'], string>[number], body: string): string | undefined {
  if (part.type !== 'image' && part.type !== 'file') return undefined;
  const unfit = describeUnfit(part);
  return body.includes(JSON.stringify(unfit).slice(1, -1)) ? unfit : undefined;
}

/** Returns the body as JSON if the request has files, and otherwise nothing, because a body may be long. */
function textOfBody({ body, request }: CallPrompt): string {
  const hasFiles = request.messages.some(
    ({ message }) =>
      Array.isArray(message?.content) && message.content.some(({ type }) => type === 'image' || type === 'file'),
  );
  return hasFiles && body !== undefined ? JSON.stringify(body) : '';
}

function describeReply({ finishReason, usage }: ModelReply): string {
  const { cachedInputTokens: read, cacheWriteTokens: written } = usage;
  const cache = [
    read === undefined ? [] : `${read} from the cache`,
    written === undefined ? [] : `${written} written to it`,
  ];
  const cached = cache.flat().length === 0 ? '' : ` (${cache.flat().join(', ')})`;
  return `${finishReason}, ${usage.inputTokens} → ${usage.outputTokens} tokens${cached}`;
}
