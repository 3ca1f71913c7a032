/** One document as a resource of its kind, or everything that keeps it from being one. */
import type { JsonValue } from '@goondan/types';
import { isPlainObject } from '../../../json/copy-json.ts';
import { showJson } from '../../../json/show-json.ts';
import { API_VERSION } from '../../api-version.ts';
import { closestName } from '../../closest-name.ts';
import { resourceNamePattern } from '../../resource-name.ts';
import { suggestName } from '../bundle-problem.ts';
import { carryKnownKeys, describeIssues, type Issue } from './describe-issues.ts';
import { type Resource, type ResourceKind, resourceSchemas } from './resource-schemas.ts';

export const resourceKinds = Object.keys(resourceSchemas) as readonly ResourceKind[];

export interface ParsedResource {
  /** Absent when there are issues. */
  readonly resource?: Resource;
  readonly issues: readonly Issue[];
}

export function parseResource(value: JsonValue): ParsedResource {
  if (!isPlainObject(value))
    return refuse('E_RESOURCE_INVALID', 'A document must be an object with apiVersion, kind, metadata and spec.');
  const { kind } = value;
  if (!isResourceKind(kind)) return { issues: [kindIssue(kind)] };
  const parsed = resourceSchemas[kind].safeParse(value, { error: carryKnownKeys });
  const issues = [
    ...describeIssues(parsed.error?.issues ?? [], value).map((issue) => adapt(issue, kind)),
    ...findNameIssue(value.metadata),
  ];
  return parsed.success && issues.length === 0 ? { resource: parsed.data, issues } : { issues };
}

export function isResourceKind(kind: unknown): kind is ResourceKind {
  return typeof kind === 'string' && Object.hasOwn(resourceSchemas, kind);
}

function refuse(code: Issue['code'], message: string): ParsedResource {
  return { issues: [{ code, path: [], part: 'value', message }] };
}

function kindIssue(kind: unknown): Issue {
  const meant = typeof kind === 'string' ? closestName(kind, resourceKinds) : undefined;
  const isThere = kind !== undefined && kind !== null;
  const message = isThere ? `There is no kind ${showJson(kind)}.` : 'The document says no kind.';
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

/** What is said about extensions has codes of its own. */
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
