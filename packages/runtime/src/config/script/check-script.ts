/**
 * Checks the options of a scripted model once, when the model is opened. The checked options are not checked again.
 * Every problem is an `E_MODEL_SCRIPT` error, which names the rule by its index and the field.
 */
import { errorCatalogue, type ErrorCode, isErrorCode, type ModelFailure, modelFailures } from '@goondan/types';
import {
  checkAmount,
  checkBoolean,
  checkCount,
  checkJsonObject,
  checkList,
  checkName,
  checkObject,
  checkString,
  scriptError,
} from './check-field.ts';
import type { PlainObject } from '../../json/copy-json.ts';
import { closestName } from '../closest-name.ts';
import type { AnswerAction, FailAction, Rule } from './script.ts';

/** Placeholders with a fixed meaning; a named group must not have these names. */
const reservedNames = ['input', 'result'];

export function checkScript(options: unknown) {
  const written = checkObject(options, 'options', ['script', 'latencyMs', 'tokensPerSecond']);
  return {
    rules: checkList(written.script, 'script').map((rule, index) => checkRule(rule, `script[${index}]`)),
    latencyMs: checkAmount(written.latencyMs ?? 0, 'latencyMs'),
    tokensPerSecond: checkAmount(written.tokensPerSecond ?? 0, 'tokensPerSecond'),
  };
}

/** Checks one rule. `where`: its path, such as `script[2]`. */
export function checkRule(value: unknown, where: string): Rule {
  const written = checkObject(value, where, ['when', 'afterTool', 'say', 'call', 'calls', 'fail']);
  return { condition: checkCondition(written, where), action: checkAction(written, where) };
}

function checkCondition(written: PlainObject, where: string): Rule['condition'] {
  if (written.when !== undefined && written.afterTool !== undefined) {
    throw scriptError(where, 'has both `when` and `afterTool`, which never match the same message', {
      suggestion: 'Write two rules.',
    });
  }
  if (written.when !== undefined) return { type: 'user-text', pattern: checkPattern(written.when, `${where}.when`) };
  if (written.afterTool === undefined) return { type: 'always' };
  return { type: 'tool-result', toolName: checkName(written.afterTool, `${where}.afterTool`) };
}

function checkPattern(value: unknown, where: string): RegExp {
  const source = checkString(value, where);
  const pattern = parsePattern(source, where);
  // The pattern is only read, not run, because the bundle may not be trusted yet, and a pattern can run forever.
  const reserved = reservedNames.find((name) => source.includes(`(?<${name}>`));
  if (reserved === undefined) return pattern;
  throw scriptError(where, `has a group named \`${reserved}\`, but {{${reserved}}} has a meaning of its own`, {
    suggestion: 'Give the group another name.',
  });
}

function parsePattern(source: string, where: string): RegExp {
  try {
    return new RegExp(source, 'i');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw scriptError(where, `is not a regular expression (${reason})`, { cause });
  }
}

function checkAction(written: PlainObject, where: string): Rule['action'] {
  const actions = ['say', 'call', 'calls', 'fail'].filter((name) => written[name] !== undefined);
  if (actions.length === 0) throw scriptError(where, 'does nothing: it needs `say`, `call`, `calls` or `fail`');
  if (actions.includes('fail') && actions.length > 1) throw clashError(where, actions);
  if (actions.includes('call') && actions.includes('calls')) throw clashError(where, ['call', 'calls']);
  return written.fail === undefined ? checkAnswer(written, where) : checkFailure(written.fail, `${where}.fail`);
}

function clashError(where: string, actions: readonly string[]): Error {
  const names = actions.map((name) => `\`${name}\``).join(' and ');
  return scriptError(where, `has ${names}, but a rule can do only one of them`, {
    suggestion: 'Keep one of them; `say` may go with `call` or `calls`.',
  });
}

function checkAnswer(written: PlainObject, where: string): AnswerAction {
  const calls = checkCalls(written, where);
  if (written.say === undefined) return { type: 'answer', calls };
  return { type: 'answer', say: checkString(written.say, `${where}.say`), calls };
}

function checkCalls(written: PlainObject, where: string): AnswerAction['calls'] {
  if (written.call !== undefined) return [checkCall(written.call, `${where}.call`)];
  if (written.calls === undefined) return [];
  return checkList(written.calls, `${where}.calls`).map((call, index) => checkCall(call, `${where}.calls[${index}]`));
}

function checkCall(value: unknown, where: string): AnswerAction['calls'][number] {
  const written = checkObject(value, where, ['tool', 'args']);
  const tool = checkName(written.tool, `${where}.tool`);
  return { tool, args: written.args === undefined ? {} : checkJsonObject(written.args, `${where}.args`) };
}

function checkFailure(value: unknown, where: string): FailAction {
  const written = checkObject(value, where, ['message', 'retryable', 'times', 'retryAfterMs', 'failure', 'code']);
  const { retryable, retryAfterMs, failure, times, code } = written;
  return {
    type: 'fail',
    code: code === undefined ? 'E_MODEL_FAILED' : checkCode(code, `${where}.code`),
    message: checkName(written.message, `${where}.message`),
    retryable: retryable === undefined ? false : checkBoolean(retryable, `${where}.retryable`),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs: checkAmount(retryAfterMs, `${where}.retryAfterMs`) }),
    ...(failure === undefined ? {} : { failure: checkKind(failure, `${where}.failure`) }),
    times: times === undefined ? Infinity : checkCount(times, `${where}.times`),
  };
}

function checkKind(value: unknown, where: string): ModelFailure {
  const kind = modelFailures.find((each) => each === value);
  if (kind === undefined) throw scriptError(where, `must be one of ${modelFailures.join(', ')}`);
  return kind;
}

function checkCode(value: unknown, where: string): ErrorCode {
  const code = checkString(value, where);
  if (isErrorCode(code)) return code;
  const meant = closestName(code, Object.keys(errorCatalogue));
  throw scriptError(where, `is not a code of the catalogue: ${JSON.stringify(code)}`, {
    suggestion: meant === undefined ? 'Leave it out for `E_MODEL_FAILED`.' : `Did you mean \`${meant}\`?`,
  });
}
