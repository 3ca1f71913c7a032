/** `kind: Agent` — a model with a prompt, tools and extensions. */
import { z } from 'zod';
import { resourceNamePattern } from '../../resource-name.ts';
import { LARGEST_SHARE, MOST_SHARED } from '../../isolation.ts';
import { DEFAULT_RETRIES, MOST_RETRIES } from '../../../json/read-demand.ts';
import { config, count, environment, jsonObject, listItem, optional, reference, resource, text } from './fields.ts';
import { hook } from './hook.ts';
import { modelParams, modelSpec } from './model.ts';
import { turnPolicy } from './policy.ts';

/** A reference to a Model resource, or `provider/model` for a model without a resource. */
const modelReference = reference('Model|anthropic|openai|google');

const modelConfig = z
  .strictObject({
    modelRef: modelReference.describe('The model for the steps of the agent: `Model/name`, or `provider/model`.'),
    params: optional(modelParams, 'Settings for this agent; they override those of the model.'),
    models: optional(z.array(modelReference), 'Other models that extensions of the agent may call.'),
  })
  .describe('The long form of `model`, for agents with more models, or with settings of their own.');

const prompt = z
  .strictObject({
    system: optional(z.string(), 'The first system message.'),
    systemRef: optional(text, 'A file with the system message, inside the bundle. Not together with `system`.'),
  })
  .describe('The instructions for the model.');

const output = z
  .strictObject({
    schema: optional(jsonObject, 'The JSON Schema of the answer, with the keywords of draft 7.'),
    schemaRef: optional(text, 'A JSON or YAML file with the schema, inside the bundle. Not together with `schema`.'),
    retries: optional(count(0).max(MOST_RETRIES), 'How often the model may correct a wrong answer.', DEFAULT_RETRIES),
  })
  .describe('The form of the answers: JSON that fits a schema. A caller may demand another schema.');

const otherName = text.meta({
  description:
    'The name at this agent, for its state, its layers and its tools. Set it to list the same extension twice.',
  pattern: resourceNamePattern.source,
});

export const extensionItem = listItem('Extension', {
  as: otherName.optional(),
  config: optional(
    config,
    'Merged over the config of the resource: objects are merged deeply, everything else is replaced.',
  ),
});

export const agent = resource(
  'Agent',
  'A model with a prompt, tools and extensions.',
  z.strictObject({
    description: optional(z.string(), 'The purpose of the agent, for other agents to read.'),
    model: optional(
      z.union([...modelReference.options, modelSpec]),
      'The model: `anthropic/…`, `openai/…` or `google/…`; `Model/name`; or the fields of a Model, such as ' +
        '`{ provider: openai-compatible, model: llama3, endpoint: http://localhost:11434/v1 }`. An agent has `model` or ' +
        '`modelConfig`.',
    ),
    modelConfig: modelConfig.optional(),
    prompt: prompt.optional(),
    output: output.optional(),
    tools: optional(
      z.array(listItem('Tool', { config: config.optional() })),
      'Tools for the model. `Tool/agents` is built in and lets the model call the other agents.',
    ),
    mayAsk: optional(
      z.array(reference('Agent')),
      'The agents that this agent may call, by its tools or its layers; when absent, every agent of the swarm. With `[]` ' +
        'it calls none. Answers to requests are always allowed.',
    ),
    extensions: optional(z.array(extensionItem), 'The extensions in order: the first is the outermost layer.'),
    hooks: optional(
      z.array(hook),
      'Tool calls and commands at points of a turn, inside all extensions. The extension `hooks` of @goondan/base runs them.',
    ),
    policy: turnPolicy.optional(),
    environment: environment.optional(),
    isolation: optional(
      z.enum(['instance', 'agent']),
      '`instance`: each conversation has a process of its own. `agent`: the conversations of the agent share processes; ' +
        'they then share the memory of modules and the working folder of the process.',
      'instance',
    ),
    maxInstances: optional(
      count(1).max(LARGEST_SHARE),
      'With `isolation: agent`: the maximum number of conversations in one process. When it is full, another is started.',
      MOST_SHARED,
    ),
    workdir: optional(
      text,
      'The working folder of the tools, relative to the bundle; when absent, the folder where `gdn` was started.',
    ),
  }),
);
