/** Failures as they travel between an agent process and a keeper: those of a request, and errors with their own code. */
import { type ErrorCode, GoondanError, isErrorCode, type JsonObject, type JsonValue } from '@goondan/types';
import { isObject } from '../../json/is-object.ts';
import { failureKinds, McpFailure } from './mcp-failure.ts';

export function describeFailure(error: unknown): JsonObject {
  if (error instanceof McpFailure) return { kind: error.kind, message: error.message };
  if (GoondanError.is(error)) return { code: error.code, message: error.message };
  return { kind: 'broken', message: error instanceof Error ? error.message : String(error) };
}

export function readFailure(failed: JsonValue): Error {
  const { kind, code, message } = isObject(failed) ? failed : {};
  const text = typeof message === 'string' ? message : 'the keeper sent an unreadable answer.';
  if (isCode(code)) return new GoondanError(code, text);
  return new McpFailure(failureKinds.find((each) => each === kind) ?? 'broken', text);
}

function isCode(code: JsonValue | undefined): code is ErrorCode {
  return typeof code === 'string' && isErrorCode(code);
}
