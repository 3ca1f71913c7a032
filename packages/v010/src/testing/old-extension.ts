/** Old extensions for tests. */
import { extension, type ScriptedAgentOptions } from '@goondan/runtime/testing';
import type { Entry } from '../entries.ts';
import type { OldExtensionApi, OldRegister } from '../old-types.ts';
import { middlewarePoints, mutatorPoints, type Point } from '../points.ts';
import { v010 } from '../v010.ts';

export function oldExtension(name: string, register: OldRegister, config: Record<string, string> = {}) {
  return extension(name, v010(register), { config });
}

/** Registers a function at a point that notes its name, and both sides of a wrapped point. */
export function note(
  api: Pick<OldExtensionApi, 'pipelines'>,
  point: Point,
  name: string,
  seen: string[],
  options?: { priority?: number; id?: string },
): void {
  const isWrapped = (middlewarePoints as readonly string[]).includes(point);
  const mutate: Entry['run'] = (ctx) => {
    seen.push(`${point} ${name}`);
    return ctx;
  };
  const wrap: Entry['run'] = async (ctx, next) => {
    seen.push(`${point} ${name} in`);
    const result = await next?.(ctx);
    seen.push(`${point} ${name} out`);
    return result;
  };
  // The types of the points differ, but these functions fit all of them.
  if (isWrapped) api.pipelines.wrap(point as 'toolCall.exec', wrap as never, options);
  else api.pipelines.mutate(point as 'turn.pre', mutate as never, options);
}

export const allPoints: readonly Point[] = [...mutatorPoints, ...middlewarePoints];

/** An agent that calls a tool and then says `done`. */
export const callsTool: Pick<ScriptedAgentOptions, 'script' | 'tools'> = {
  script: [{ when: 'go', calls: [{ tool: 'echo__run', args: { text: 'hello' } }] }, { say: 'done' }],
  tools: [
    {
      name: 'echo',
      exports: [{ name: 'run', description: 'Says the text.', parameters: { type: 'object' } }],
      handlers: { run: (_ctx, input) => input },
    },
  ],
};
