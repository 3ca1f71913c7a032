/** Parses one document as a resource of its kind, or lists all its problems. */
import type { JsonObject, JsonValue } from '@goondan/types';
import { copyJsonObject, isPlainObject } from '../../../json/copy-json.ts';
import { showJson } from '../../../json/show-json.ts';
import { API_VERSION } from '../../api-version.ts';
import { closestName, suggestName } from '../../closest-name.ts';
import { resourceNamePattern } from '../../resource-name.ts';
import { type Path, valueAt } from '../place.ts';
import { carryKnownKeys, describeIssues, type Issue } from './describe-issues.ts';
import { type ResourceKind, type ResourceOf, resourceSchemas } from './resource-schemas.ts';

export const resourceKinds = Object.keys(resourceSchemas) as readonly ResourceKind[];

/**
 * Parses a document. A document whose only problems are an invalid name or unknown keys is also returned as a resource,
 * without those keys.
 */
export function parseResource(value: JsonValue): { resource?: ResourceOf; issues: readonly Issue[] } {
  if (!isPlainObject(value)) return { issues: [notAnObject] };
  const { kind } = value;
  if (!isResourceKind(kind)) return { issues: [kindIssue(kind)] };
  const first = parseAs(kind, value);
  const issues = [...first.issues.map((issue) => adapt(issue, kind)), ...findNameIssue(value.metadata)];
  if (first.resource !== undefined) return { resource: first.resource, issues };
  const unknown = first.issues.flatMap(({ code, path }) => (code === 'E_RESOURCE_KEY' ? [path] : []));
  // In a model's script, a rule without its mistyped key would have another meaning.
  if (unknown.length === 0 || kind === 'Model') return { issues };
  // Parses again without the unknown keys, so that the other checks can report their problems, too.
  const { resource } = parseAs(kind, withoutPaths(value, unknown));
  return { issues, ...(resource === undefined ? {} : { resource }) };
}

function parseAs(kind: ResourceKind, value: JsonObject): ReturnType<typeof parseResource> {
  const { data, error } = resourceSchemas[kind].safeParse(value, { error: carryKnownKeys });
  if (data !== undefined) return { resource: data, issues: [] };
  return { issues: describeIssues(error?.issues ?? [], value) };
}

/** Returns a copy without the values at these paths. */
function withoutPaths(value: JsonObject, paths: readonly Path[]): JsonObject {
  const copy = copyJsonObject(value);
  for (const path of paths) {
    // Safe: the path was found in this value.
    delete (valueAt(copy, path.slice(0, -1)) as JsonObject)[String(path.at(-1))];
  }
  return copy;
}

export function isResourceKind(kind: unknown): kind is ResourceKind {
  return typeof kind === 'string' && Object.hasOwn(resourceSchemas, kind);
}

const notAnObject: Issue = {
  code: 'E_RESOURCE_INVALID',
  path: [],
  part: 'value',
  message: 'A document must be an object with apiVersion, kind, metadata and spec.',
};

function kindIssue(kind: unknown): Issue {
  const meant = typeof kind === 'string' ? closestName(kind, resourceKinds) : undefined;
  const isThere = kind !== undefined && kind !== null;
  const message = isThere ? `There is no kind ${showJson(kind)}.` : 'The document has no `kind`.';
  return {
    code: 'E_RESOURCE_KIND',
    path: ['kind'],
    part: 'value',
    message,
    suggestion: suggestName(meant, resourceKinds),
  };
}

function findNameIssue(metadata: unknown): Issue[] {
  const name = isPlainObject(metadata) ? metadata.name : undefined;
  if (typeof name !== 'string' || name === '' || resourceNamePattern.test(name)) return [];
  return [
    {
      code: 'E_RESOURCE_NAME',
      path: ['metadata', 'name'],
      part: 'value',
      message: `${showJson(name)} is not a name for a resource.`,
    },
  ];
}

/** Gives some issues of an Extension a code that only extensions have. */
function adapt(issue: Issue, kind: ResourceKind): Issue {
  if (kind !== 'Extension') return issue;
  const [first, second] = issue.path;
  if (first === 'apiVersion') return { ...issue, code: 'E_EXT_COMPAT', suggestion: `Set apiVersion: ${API_VERSION}.` };
  if (first === 'spec' && second === 'runtime' && issue.code === 'E_RESOURCE_KEY') {
    const suggestion = 'Remove the field: extensions always run on Bun.';
    return { ...issue, code: 'E_EXT_COMPAT', message: 'spec.runtime no longer exists.', suggestion };
  }
  return issue;
}
