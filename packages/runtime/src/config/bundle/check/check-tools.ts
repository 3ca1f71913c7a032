/** Checks the exports of a Tool: each name is used once and accepted by every provider, and schemas are valid. */
import type { Scope } from '../bundle.ts';
import { errorAt, type Finding, warningAt } from '../bundle-problem.ts';
import { resourcesOf } from '../find-resource.ts';
import { findSchemaProblem } from '../../../json/find-schema-problem.ts';
import { findSizeProblem } from '../../../json/json-schema.ts';
import { isExportName, isToolName } from '../../tool-name.ts';

export function checkTools(scope: Scope): Finding[] {
  const findings: Finding[] = [];
  for (const { name, identity, resource, document } of resourcesOf(scope, 'Tool')) {
    const seen = new Set<string>();
    for (const [index, each] of (resource.spec.exports ?? []).entries()) {
      const path = ['spec', 'exports', index];
      const place = document.placeOf([...path, 'name']);
      const full = `${name}__${each.name}`;
      if (!isExportName(each.name) || !isToolName(full)) {
        findings.push(
          errorAt(place, 'E_TOOL_NAME', whyNoName(full, each.name), { resource: identity, suggestion: rename }),
        );
      } else if (seen.has(each.name)) {
        findings.push(
          errorAt(place, 'E_REF_TWICE', `The export "${each.name}" is there twice.`, { resource: identity }),
        );
      }
      seen.add(each.name);
      const tooLarge = findSizeProblem(each.parameters ?? {}, `tool "${full}"`);
      if (tooLarge !== undefined) {
        const at = document.placeOf([...path, 'parameters']);
        const message = `${tooLarge.message} The tool is not offered.`;
        findings.push(warningAt(at, 'E_SCHEMA_SIZE', message, { resource: identity }));
      }
      const problem = findSchemaProblem(each.parameters ?? {});
      if (problem !== undefined) {
        const at = document.placeOf([...path, 'parameters', ...problem.path]);
        const message = `The parameters of "${full}" are not a JSON Schema: ${problem.message}.`;
        findings.push(errorAt(at, 'E_TOOL_SCHEMA', message, { resource: identity }));
      }
    }
  }
  return findings;
}

const rename = 'Use lower-case letters, digits, - and single _.';

function whyNoName(full: string, name: string): string {
  if (isExportName(name) && full.length > 64) {
    return `"${full}" is no tool name: it has ${full.length} characters, and 64 is what providers accept.`;
  }
  return `"${name}" is not a name for an export.`;
}
