/**
 * Runs the functions of old extensions at a point, in order. Each function gets the context that the one before it
 * returned, and everything that it changed is checked with its name at hand.
 */
import { GoondanError } from '@goondan/types';
import { checkBlocks } from './blocks.ts';
import { attribute, CHANGE_BUNDLE, compatError, resultError, withPlace } from './compat-error.ts';
import { type Entry, entriesAt } from './entries.ts';
import { isUntouched } from './lazy.ts';
import { openContext, type OpenedContext, type PointRun } from './old-context.ts';
import type { MiddlewarePoint, MutatorPoint, Point } from './points.ts';
import { emitEvent, takeTurn } from './take-turn.ts';
import { checkItems } from './tool-items.ts';

/** Runs the mutators of a point. Returns the context that the last one returned. */
export async function runMutators<Fields extends object>(
  run: PointRun,
  point: MutatorPoint,
  fields: Fields,
): Promise<Fields> {
  let current = fields;
  for (const entry of entriesAt(run.members, point)) {
    const opened = open(run, entry, current);
    const returned = await callEntry(entry, () => entry.run(opened.ctx));
    current = placed(entry, () => takeContext(run, entry, opened, returned)) as Fields;
  }
  return current;
}

/** Runs the functions that wrap a point around `core`. `check` checks the result of each of them. */
export function runMiddleware<Fields extends object, Result>(
  run: PointRun,
  point: MiddlewarePoint,
  fields: Fields,
  core: (fields: Fields) => Promise<Result>,
  check: (value: unknown, extension: string) => Result,
): Promise<Result> {
  const onion = entriesAt(run.members, point).reduceRight<(fields: Fields) => Promise<Result>>(
    (inner, entry) => (outer) => runWrapping(run, entry, outer, inner, check),
    core,
  );
  return onion(fields);
}

async function runWrapping<Fields extends object, Result>(
  run: PointRun,
  entry: Entry,
  fields: Fields,
  inner: (fields: Fields) => Promise<Result>,
  check: (value: unknown, extension: string) => Result,
): Promise<Result> {
  const { name } = entry.member;
  const opened = open(run, entry, fields);
  let running: Promise<Result> | undefined;
  let mistake: GoondanError | undefined;
  let isOver = false;
  let isSettled = false;
  let failure: { readonly thrown: unknown } | undefined;
  const isPassedOn = (error: unknown) => failure !== undefined && failure.thrown === error;
  const next = (ctx: object = opened.ctx): Promise<unknown> => {
    if (isOver) return refuse(ended(entry));
    if (running !== undefined) {
      mistake = calledTwice(entry);
      return refuse(mistake);
    }
    running = (async () => inner(takeContext(run, entry, opened, ctx) as Fields))().finally(() => (isSettled = true));
    running.catch((thrown: unknown) => (failure = { thrown }));
    return running;
  };
  try {
    const returned = await callEntry(entry, () => entry.run(opened.ctx, next), isPassedOn);
    isOver = true;
    if (running !== undefined && !isSettled) mistake ??= withPlace(notAwaited(entry), entry);
    if (mistake !== undefined) throw mistake;
    return placed(entry, () => check(returned, name));
  } finally {
    isOver = true;
    // Nothing of the chain may still run when the function is over.
    await running?.catch(() => undefined);
  }
}

function open(run: PointRun, entry: Entry, fields: object): OpenedContext {
  return openContext(run, entry, fields, (event) => {
    // Throws at once: a rejected promise that the function does not await would end the process.
    emitEvent(run, entry, event);
    return Promise.resolve();
  });
}

/** `isPassedOn` tells whether an error comes from further in, and so is not an error of this function. */
async function callEntry(
  entry: Entry,
  call: () => unknown,
  isPassedOn: (error: unknown) => boolean = () => false,
): Promise<unknown> {
  const { name } = entry.member;
  try {
    return await call();
  } catch (error) {
    if (isPassedOn(error)) throw error;
    attribute(error, name);
    if (typeof error === 'object' && error !== null) throw error;
    const message = `Extension "${name}", ${entry.point}: threw ${typeof error === 'string' ? `"${error}"` : String(error)}.`;
    throw attribute(new GoondanError('E_EXT_MIDDLEWARE', message, { cause: error }), name);
  }
}

/** Runs a check of the value that a function returned. */
function placed<Checked>(entry: Entry, check: () => Checked): Checked {
  try {
    return check();
  } catch (error) {
    throw withPlace(error, entry);
  }
}

/** Checks what a function returned, or passed to `next`, and takes over its changes of the turn. */
function takeContext(run: PointRun, entry: Entry, opened: OpenedContext, returned: unknown): object {
  const { point, member } = entry;
  if (typeof returned !== 'object' || returned === null) {
    const problem = returned === undefined ? 'it returned nothing; return the context' : 'it returned no context';
    throw resultError(member.name, point, problem);
  }
  takeTurn(run, entry, opened, returned);
  if ('toolCatalog' in returned && !isUntouched(returned, 'toolCatalog')) {
    checkItems(returned.toolCatalog, member.name, point);
  }
  if ('blocks' in returned && !isUntouched(returned, 'blocks')) checkBlocks(returned.blocks, entry);
  refuseOtherRef(run, entry, returned);
  run.take?.(returned, entry);
  return returned;
}

function refuseOtherRef({ layer }: PointRun, { member, point }: Entry, returned: object): void {
  if (!('activeSwarmRef' in returned) || returned.activeSwarmRef === layer.bundleFolder) return;
  throw compatError(member.name, `changed activeSwarmRef at ${point}`, CHANGE_BUNDLE);
}

function calledTwice({ member, point }: Entry): GoondanError {
  const instead: Readonly<Partial<Record<Point, string>>> = {
    'step.llmCall': 'To call the model again, set shouldRetry at step.llmError.',
    'toolCall.exec': 'To run a tool again, return an error result: the model decides whether to repeat the call.',
  };
  return compatError(member.name, `called next() twice at ${point}`, instead[point] ?? 'Call next() once.');
}

function notAwaited({ member, point }: Entry): GoondanError {
  const message = `Extension "${member.name}", ${point}: it returned before next() was finished.`;
  return attribute(new GoondanError('E_NEXT_NOT_AWAITED', message), member.name);
}

function ended({ member, point }: Entry): GoondanError {
  const message = `Extension "${member.name}", ${point}: it called next() after it had returned.`;
  return attribute(new GoondanError('E_NEXT_LATE', message), member.name);
}

/** Returns a rejected promise that counts as handled, because an extension may ignore it. */
function refuse(mistake: GoondanError): Promise<never> {
  const refused = Promise.reject(mistake);
  refused.catch(() => undefined);
  return refused;
}
