/** Parses one document as a resource of its kind, or lists all its problems. */
import type { JsonObject, JsonValue } from '@goondan/types';
import { copyJsonObject, isPlainObject } from '../../../json/copy-json.ts';
import { showJson } from '../../../json/show-json.ts';
import { API_VERSION } from '../../api-version.ts';
import { closestName, suggestName } from '../../closest-name.ts';
import { resourceNamePattern } from '../../resource-name.ts';
import { valueAt } from '../place.ts';
import { carryKnownKeys, describeIssues, type Issue } from './describe-issues.ts';
import { anyResource } from './fields.ts';
import { type ResourceKind, type ResourceOf, resourceSchemas } from './resource-schemas.ts';

export const resourceKinds = Object.keys(resourceSchemas) as readonly ResourceKind[];

export interface ParsedResource {
  /** Absent when the document cannot be repaired. */
  readonly resource?: ResourceOf;
  readonly issues: readonly Issue[];
  /** True when the resource lacks wrong values of the document, or has another kind. */
  readonly isRepaired?: boolean;
}

/**
 * Parses a document. If the document is still a resource without its unknown keys and wrong values, and with the kind
 * that the author most likely meant, that resource is returned, so that the other checks can report their problems, too.
 */
export function parseResource(value: JsonValue): ParsedResource {
  if (!isPlainObject(value)) return { issues: [notAnObject] };
  const kind = kindOf(value);
  if (kind === undefined) return { issues: [kindIssue(value.kind), ...findCommonIssues(value)] };
  if (value.kind === kind) return parseOfKind(kind, value);
  const { resource, issues } = parseOfKind(kind, { ...value, kind });
  return {
    issues: [kindIssue(value.kind), ...issues],
    isRepaired: true,
    ...(resource === undefined ? {} : { resource }),
  };
}

/** Returns the kind of a document, or the kind that a mistyped one means. */
export function kindOf({ kind }: Readonly<Record<string, unknown>>): ResourceKind | undefined {
  if (isResourceKind(kind)) return kind;
  // Safe: the name is one of the kinds.
  return typeof kind === 'string' ? (closestName(kind, resourceKinds) as ResourceKind | undefined) : undefined;
}

function parseOfKind(kind: ResourceKind, value: JsonObject): ParsedResource {
  const first = parseAs(kind, value);
  const aboutModel = kind === 'Agent' ? findModelIssue(value.spec, first.issues) : [];
  const issues = [...first.issues.map((issue) => adapt(issue, kind)), ...aboutModel, ...findNameIssue(value.metadata)];
  if (first.resource !== undefined) return { resource: first.resource, issues, isRepaired: aboutModel.length > 0 };
  // In a model's script, a rule without its mistyped key would have another meaning.
  if (kind === 'Model') return { issues };
  const unknown = first.issues.filter(({ code }) => code === 'E_RESOURCE_KEY');
  const wrong = first.issues.filter((issue) => !unknown.includes(issue) && isRemovable(issue));
  const { resource } = parseAs(kind, withoutPaths(value, [...unknown, ...wrong]));
  return resource === undefined ? { issues } : { resource, issues, isRepaired: wrong.length + aboutModel.length > 0 };
}

/** Returns true for a wrong value of an object's field. Without an item of a list, the others would have other places. */
function isRemovable({ path, isMissing = false }: Issue): boolean {
  return !isMissing && typeof path.at(-1) === 'string';
}

function parseAs(kind: ResourceKind, value: JsonObject): ParsedResource {
  const { data, error } = resourceSchemas[kind].safeParse(value, { error: carryKnownKeys });
  if (data !== undefined) return { resource: data, issues: [] };
  return { issues: describeIssues(error?.issues ?? [], value) };
}

/** Checks the fields that do not depend on the kind, unless the document is for another program. */
function findCommonIssues(value: JsonObject): Issue[] {
  if (typeof value.apiVersion !== 'string' || !value.apiVersion.startsWith('goondan')) return [];
  const { error } = anyResource.safeParse(value, { error: carryKnownKeys });
  return [...describeIssues(error?.issues ?? [], value), ...findNameIssue(value.metadata)];
}

/** Returns a copy without the values to which the issues lead. */
function withoutPaths(value: JsonObject, issues: readonly Issue[]): JsonObject {
  const copy = copyJsonObject(value);
  for (const { path } of issues) {
    const parent = valueAt(copy, path.slice(0, -1));
    // The parent of a wrong value may be removed already.
    if (isPlainObject(parent)) delete parent[String(path.at(-1))];
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

/** An agent has `model` or `modelConfig`. A mistyped key is reported once, not as a missing model, too. */
function findModelIssue(spec: unknown, others: readonly Issue[]): Issue[] {
  if (!isPlainObject(spec)) return [];
  const [hasModel, hasConfig] = ['model', 'modelConfig'].map((name) => Object.hasOwn(spec, name));
  if (hasModel !== hasConfig || others.some(({ meantPath }) => /^spec\.model(Config)?$/.test(meantPath ?? '')))
    return [];
  if (hasModel === true) {
    const message = 'spec has "model" and "modelConfig", which do not go together.';
    const suggestion = 'Keep `model`, or move it to `modelConfig.modelRef`.';
    return [{ code: 'E_RESOURCE_KEY', path: ['spec', 'modelConfig'], part: 'key', message, suggestion }];
  }
  const message = 'spec.model is missing.';
  const suggestion = 'Name a model, for example `model: anthropic/claude-sonnet-4-5`.';
  return [{ code: 'E_RESOURCE_INVALID', path: ['spec', 'model'], part: 'value', message, suggestion }];
}

/** Gives some issues of an Extension a code that only extensions have, and the missing URL of a server an example. */
function adapt(issue: Issue, kind: ResourceKind): Issue {
  if (issue.isMissing === true && issue.path.at(-1) === 'endpoint') {
    return { ...issue, suggestion: 'Write the URL of the server, for example `endpoint: http://localhost:11434/v1`.' };
  }
  if (kind !== 'Extension') return issue;
  const [first, second] = issue.path;
  if (first === 'apiVersion') return { ...issue, code: 'E_EXT_COMPAT', suggestion: `Set apiVersion: ${API_VERSION}.` };
  if (first === 'spec' && second === 'runtime' && issue.code === 'E_RESOURCE_KEY') {
    const suggestion = 'Remove the field: extensions always run on Bun.';
    return { ...issue, code: 'E_EXT_COMPAT', message: 'spec.runtime no longer exists.', suggestion };
  }
  return issue;
}
