/**
 * Tools with which the model calls other agents: `agents__request`, `agents__send`, `agents__list`, `agents__catalog`.
 * The handlers only call `ctx.agents`, so that calls by a model and calls by a layer share one code path.
 *
 * All these tools are idempotent. A call is recorded as an effect under the key of its tool call, and the id of the
 * event that it sends is made from that key. A call that is repeated after a crash gets the recorded answer, joins the
 * first call if that is still running, or is delivered if the first call was not.
 */
import type { AgentRequest, AgentSend, JsonSchema } from '@goondan/types';
import { MOST_RETRIES } from '../../json/read-demand.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

/** The maximum number of instances listed for a model; further instances are only counted. */
const MOST_LISTED = 100;

const message: Record<string, JsonSchema> = {
  target: { type: 'string', minLength: 1, description: 'The name of the agent, as agents__catalog gives it.' },
  input: { type: 'string', description: 'The message for the agent, which does not see this conversation.' },
  instanceKey: {
    type: 'string',
    minLength: 1,
    description: 'The key of the conversation to use; the key of this conversation when absent.',
  },
  files: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    description: 'The names of images and files of this conversation to send along.',
  },
  metadata: { type: 'object', description: 'Further values for the agent, as JSON.' },
};

const output: JsonSchema = {
  type: 'object',
  properties: {
    schema: { type: 'object', description: 'A JSON Schema (draft 7).' },
    retries: {
      type: 'integer',
      minimum: 0,
      maximum: MOST_RETRIES,
      description: 'Corrections of a wrong answer; 2 when absent.',
    },
  },
  required: ['schema'],
  additionalProperties: false,
  description:
    'Demands an answer that fits a JSON Schema; the result then has the answer as JSON in `output`. When absent, the answer ' +
    'is a text, unless the agent always answers with JSON.',
};

const timeoutMs: JsonSchema = {
  type: 'integer',
  minimum: 1,
  description:
    'The time limit for the answer, in milliseconds; when absent, the time limit of the turns of that agent.',
};

export const agentsTool: ToolDeclaration = {
  name: 'agents',
  isPatient: true,
  exports: [
    {
      name: 'request',
      description: 'Asks another agent and waits for its answer.',
      parameters: parametersOf({ ...message, output, timeoutMs }, ['target']),
      effects: 'external',
      idempotent: true,
      // A model may call several agents at the same time.
      parallel: true,
    },
    {
      // Not parallel, so that an agent gets its messages in the order they were sent.
      name: 'send',
      description: 'Sends a message to another agent and does not wait for an answer.',
      parameters: parametersOf(message, ['target']),
      effects: 'external',
      idempotent: true,
    },
    {
      name: 'list',
      description: 'Lists the conversations that agents have now, and what each is doing.',
      parameters: parametersOf({}, []),
      effects: 'none',
      idempotent: true,
      parallel: true,
    },
    {
      name: 'catalog',
      description: 'Lists the agents that can be asked, and what each is for.',
      parameters: parametersOf({}, []),
      effects: 'none',
      idempotent: true,
      parallel: true,
    },
  ],
  handlers: {
    // Safe: the arguments were validated against the schemas above, and `ctx.agents` validates them again.
    request: (ctx, input) => ctx.agents.request(input as unknown as AgentRequest),
    send: (ctx, input) => ctx.agents.send(input as unknown as AgentSend),
    list: async (ctx) => {
      const instances = await ctx.agents.list();
      const shown = instances.slice(0, MOST_LISTED).map((instance) => ({ ...instance }));
      const more = instances.length - shown.length;
      return { instances: shown, ...(more > 0 ? { more } : {}) };
    },
    catalog: (ctx) => ({ agents: ctx.agents.catalog().map((card) => ({ ...card })) }),
  },
};

const names: ReadonlySet<string> = new Set(agentsTool.exports.map(({ name }) => `${agentsTool.name}__${name}`));

/** Returns true for the full name of one of these tools, such as `agents__send`. */
export function isAgentsTool(toolName: string): boolean {
  return names.has(toolName);
}

function parametersOf(properties: Record<string, JsonSchema>, required: string[]): JsonSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}
