/** A hook of `Agent.spec.hooks`. The extension `hooks` of the base library runs it, and its schema has the last word. */
import { hookPoints } from '@goondan/types';
import { z } from 'zod';
import { count, jsonObject, optional, text } from './fields.ts';

const toolCall = z.strictObject({
  toolCall: z
    .strictObject({
      tool: text.describe('The name of the tool, such as `files__read`.'),
      args: optional(
        jsonObject,
        'Its arguments. `{ expr: path }` anywhere in them is replaced by a fact of the point.',
      ),
    })
    .describe('A tool to call.'),
});

const command = z.strictObject({
  command: z
    .array(z.string())
    .min(1)
    .describe('A program to run, and its arguments. `./name` is a file of the bundle. Exit code 2 blocks.'),
  timeoutMs: optional(count(1).max(600_000), 'The time limit of the command.', 60_000),
  onFailure: optional(
    z.enum(['block', 'continue']),
    'What follows when the command cannot be started, is killed or takes too long.',
    'block',
  ),
});

export const hook = z.strictObject({
  id: optional(
    text,
    'The name of the hook in errors and in the log. A hook with an id keeps its identity when it changes.',
  ),
  point: z.enum(hookPoints).describe('The point of a turn at which the hook runs.'),
  priority: optional(z.number(), 'Hooks with a lower priority run earlier, at every point.', 0),
  tool: optional(
    text,
    'Only at `toolCall.pre`, `toolCall.exec` and `toolCall.post`: the tools that the hook applies to. `*` is any text.',
  ),
  required: optional(
    z.boolean(),
    'Only with a `toolCall`: if true, a failed call fails its turn, step or tool call. Otherwise it is only logged.',
    false,
  ),
  action: z.union([toolCall, command]).describe('The tool to call, or the command to run.'),
});
