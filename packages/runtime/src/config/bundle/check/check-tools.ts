/** Checks the exports of a Tool: each name is used once and accepted by every provider, and schemas are valid. */
import type { Scope } from '../bundle.ts';
import { errorIn, type Finding, warningIn } from '../bundle-problem.ts';
import { resourcesOf } from '../find-resource.ts';
import { findSchemaProblem } from '../../../json/find-schema-problem.ts';
import { findSizeProblem } from '../../../json/count-schema-nodes.ts';
import { FINISH_TOOL, isExportName, isDeclaredName } from '../../tool-name.ts';

export function* checkTools(scope: Scope): Generator<Finding> {
  for (const loaded of resourcesOf(scope, 'Tool')) {
    const seen = new Set<string>();
    for (const [index, { name, parameters = {} }] of (loaded.resource.spec.exports ?? []).entries()) {
      const path = ['spec', 'exports', index];
      const full = `${loaded.name}__${name}`;
      if (!isExportName(name) || !isDeclaredName(full)) {
        yield errorIn(loaded, [...path, 'name'], 'E_TOOL_NAME', whyNoName(full, name), rename);
      } else if (full === FINISH_TOOL) {
        const message = `"${full}" is the name of a tool of the runtime, which ends a turn with an answer.`;
        yield errorIn(loaded, [...path, 'name'], 'E_TOOL_NAME', message, 'Rename the export.');
      } else if (seen.has(name)) {
        yield errorIn(loaded, [...path, 'name'], 'E_REF_TWICE', `The export "${name}" is listed twice.`);
      }
      seen.add(name);
      const tooLarge = findSizeProblem(parameters, `tool "${full}"`);
      if (tooLarge !== undefined) {
        const message = `${tooLarge.message} The tool is not offered.`;
        yield warningIn(loaded, [...path, 'parameters'], 'E_SCHEMA_SIZE', message);
      }
      const problem = findSchemaProblem(parameters);
      if (problem !== undefined) {
        const message = `The parameters of "${full}" are not a JSON Schema: ${problem.message}.`;
        yield errorIn(loaded, [...path, 'parameters', ...problem.path], 'E_TOOL_SCHEMA', message);
      }
    }
  }
}

const rename = 'Use lower-case letters, digits, - and single _.';

function whyNoName(full: string, name: string): string {
  if (isExportName(name) && full.length > 64) {
    return `"${full}" is not a tool name: it has ${full.length} characters, but providers accept at most 64.`;
  }
  return `"${name}" is not a name for an export.`;
}
