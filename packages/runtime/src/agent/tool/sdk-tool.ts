/**
 * Accepts tools of the AI SDK as they are: `tool({ description, inputSchema, execute })`. They are known by their shape, so
 * nothing here imports the AI SDK. Only fields that change what a tool does are read; a field that would be unsafe to
 * ignore is an error.
 */
import {
  createToolContent,
  GoondanError,
  type InputPart,
  isDefinedTool,
  type JsonSchema,
  type JsonValue,
  type Message,
  type StandardParameters,
  type ToolContext,
  type ToolDefinition,
} from '@goondan/types';
import { messageOf } from '../../ipc/check/frame-error.ts';

/** A tool of the AI SDK. The module may be plain JavaScript, so the fields are checked when the tool is read. */
export interface SdkTool {
  readonly inputSchema: unknown;
}

/** A tool in code whose function can also see the conversation. */
export type ReadTool = Omit<ToolDefinition<object>, 'run'> & {
  run(ctx: ToolContext, input: object, messages?: () => readonly Message[]): ReturnType<ToolDefinition['run']>;
};

export function isSdkTool(value: unknown): value is SdkTool {
  try {
    return typeof value === 'object' && value !== null && 'inputSchema' in value && !isDefinedTool(value);
  } catch {
    // The value is another export of the module, such as a proxy that throws for unknown names.
    return false;
  }
}

/** Converts a tool of the AI SDK. `key`: the name of its export. `what` names the tool in errors. **Errors** — `E_TOOL_LOAD`. */
export async function readSdkTool(tool: SdkTool, key: string, what: string): Promise<ReadTool> {
  // Safe: every field is checked here, or in the same way as a field of `defineTool`.
  const { execute, toModelOutput, needsApproval, inputSchema, ...fields } = tool as Partial<ReadTool> &
    Record<'execute' | 'toModelOutput' | 'needsApproval' | 'inputSchema', unknown>;
  if (typeof fields.description === 'function') throw wrong(what, 'has a function as its description', 'Write a text.');
  if (typeof execute !== 'function') {
    throw wrong(
      what,
      'has no function execute',
      'Tools that a provider or a client runs do not work here: write `execute`.',
    );
  }
  if (needsApproval !== undefined && needsApproval !== false) {
    throw wrong(what, 'has needsApproval', 'Remove it, and add `Extension/approval` to the agent.');
  }
  const about = { name: exportNameOf(key), ...fields, description: fields.description ?? '' };
  return {
    ...about,
    parameters: await parametersOf(inputSchema, what),
    async run(ctx, input, messages) {
      const output = await lastOf(execute.call(tool, input, optionsOf(ctx, messages)), ctx);
      if (typeof toModelOutput !== 'function') return asJson(output);
      return valueOf(await toModelOutput.call(tool, { toolCallId: ctx.toolCallId, input, output }));
    },
  };
}

/** Converts the name of a variable, such as `getHTMLPage`, to `get_html_page`. */
function exportNameOf(key: string): string {
  return key.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, '_').toLowerCase();
}

/** Converts a schema that `jsonSchema()` made, and returns others unchanged. A schema may also be a function that makes it. */
async function parametersOf(given: unknown, what: string): Promise<StandardParameters<object> | JsonSchema> {
  const isLazy = typeof given === 'function' && !('~standard' in given);
  const schema: unknown = isLazy ? given() : given;
  if (typeof schema !== 'object' || schema === null) {
    throw wrong(what, 'has no inputSchema', 'Give it a schema of zod 4.2 or later, or `jsonSchema({ … })`.');
  }
  // Safe: what is neither a schema of the AI SDK nor of a library is checked as a JSON Schema.
  if (!(Symbol.for('vercel.ai.schema') in schema)) return schema as StandardParameters<object>;
  // Safe: the mark says that the AI SDK made the schema.
  const { jsonSchema, validate } = schema as {
    readonly jsonSchema: unknown;
    readonly validate?: (
      value: unknown,
    ) => Promise<{ success: true; value: object } | { success: false; error: Error }>;
  };
  const described = (await jsonSchema) as JsonSchema;
  if (validate === undefined) return described;
  const check = async (value: unknown) => {
    const checked = await validate(value);
    return checked.success ? { value: checked.value } : { issues: [{ message: messageOf(checked.error) }] };
  };
  return { '~standard': { version: 1, vendor: 'ai', jsonSchema: { input: () => described }, validate: check } };
}

/** Returns the second argument of `execute`. The messages are those that the model got before it requested the call. */
function optionsOf(ctx: ToolContext, messages: () => readonly Message[] = () => []): object {
  return {
    toolCallId: ctx.toolCallId,
    get messages() {
      const all = messages();
      const end = all.findIndex(({ id }) => id === ctx.message?.id);
      const seen = end === -1 ? all : all.slice(0, end);
      return seen.map(({ data }) => data).filter(({ role }) => role !== 'system');
    },
    get abortSignal() {
      return ctx.signal;
    },
    get context() {
      return ctx.config;
    },
    /** The name of `context` in version 6 of the AI SDK. */
    get experimental_context() {
      return ctx.config;
    },
  };
}

/** `execute` may be a generator. Its last value is the result. After a deadline or a cancel, the generator is closed. */
async function lastOf(returned: unknown, ctx: ToolContext): Promise<unknown> {
  if (typeof returned !== 'object' || returned === null || !(Symbol.asyncIterator in returned)) return returned;
  let last: unknown;
  // Safe: the object has the method that `for await` calls.
  for await (const value of returned as AsyncIterable<unknown>) {
    ctx.signal.throwIfAborted();
    last = value;
  }
  return last;
}

/** Converts a value to JSON as the AI SDK does: a date becomes a text, a function `null`. */
function asJson(value: unknown): JsonValue {
  // Safe: only JSON is parsed.
  return JSON.parse(JSON.stringify(value) ?? 'null') as JsonValue;
}

/** Returns the output that `toModelOutput` describes. Throws for a failure, which becomes an error result. */
function valueOf(output: { readonly type: string; readonly value?: unknown; readonly reason?: string }): JsonValue {
  const { type, value, reason } = output;
  if (type === 'text' || type === 'json') return asJson(value);
  if (type === 'content' && Array.isArray(value)) return createToolContent(value.map(partOf));
  const said = reason ?? value ?? type;
  throw new Error(typeof said === 'string' ? said : JSON.stringify(said));
}

function partOf(part: Readonly<Record<string, unknown>>): InputPart {
  const { type, data: _data, url: _url, ...about } = part;
  // Safe: the runtime checks the parts of an output.
  if (type === 'text') return part as unknown as InputPart;
  // In version 6 of the AI SDK, the bytes or the URL are in the part itself, whose type is `image-data`, `file-url`, …
  const { data, url, text } = Object(type === 'file' ? part.data : part) as Record<string, unknown>;
  const bytes =
    data instanceof ArrayBuffer ? new Uint8Array(data) : typeof text === 'string' ? Buffer.from(text) : data;
  const source = bytes ?? (url instanceof URL ? url.href : url);
  if (source === undefined) {
    throw new Error(`toModelOutput returned a part of type "${String(type)}"; use text, or file with data or a URL.`);
  }
  // An image of version 6 at a URL has no media type.
  return {
    ...about,
    ...(type === 'image-url' ? { type: 'image', image: source } : { type: 'file', data: source }),
  } as InputPart;
}

function wrong(what: string, problem: string, suggestion: string): GoondanError {
  return new GoondanError('E_TOOL_LOAD', `${what}, a tool of the AI SDK, ${problem}.`, { suggestion });
}
