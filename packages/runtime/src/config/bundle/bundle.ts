/** A bundle that was read and checked. None of its code has run. */
import type { BundleProblem } from './bundle-problem.ts';
import type { ResourceKind, ResourceOf } from './kinds/resource-schemas.ts';
import type { SourceDocument } from './place.ts';
import type { ReferenceUse } from './references.ts';

export interface Bundle {
  /** Its real path. */
  readonly folder: string;
  /** The bundle's own resources, and those of the packages it refers to. */
  readonly resources: readonly LoadedResource[];
  /** Errors in the order of the files. One error rejects the whole bundle. */
  readonly errors: readonly BundleProblem[];
  readonly warnings: readonly BundleProblem[];
  readonly valid: boolean;
  /** The scope of the bundle itself, which leads to those of its packages. */
  readonly scope: Scope;
  /** Declared values from the bundle's `.env`; the environment takes precedence. */
  readonly environmentFile: Readonly<Record<string, string>>;
}

/** One folder with resources, of the bundle or of an npm package. Names are looked up inside it. */
export interface Scope {
  /** The real path: files of the scope's resources are relative to it and inside it. */
  readonly folder: string;
  /** The npm name; absent for the scope of the bundle itself. */
  readonly package?: string;
  readonly resources: readonly LoadedResource[];
  /** Documents with an error, which are therefore not resources; their references are checked as well. */
  readonly broken: readonly ReferringResource[];
  /** Resources by `Kind/name`; the first one when a name is declared twice. */
  readonly byIdentity: ReadonlyMap<string, LoadedResource>;
  /** `Kind/name` of everything that is declared, broken documents included. */
  readonly declared: ReadonlySet<string>;
  /** True when a document could not be read: a resource that seems to be missing may be in it. */
  readonly isIncomplete: boolean;
  /** The packages its resources refer to, by npm name; without those that are not installed. */
  readonly packages: ReadonlyMap<string, Scope>;
}

/** A document and its references. */
export interface ReferringResource {
  /** `Kind/name`, if the document has both. */
  readonly identity: string | undefined;
  readonly document: SourceDocument;
  readonly references: readonly ReferenceUse[];
}

export type LoadedResource = { [Kind in ResourceKind]: LoadedResourceOf<Kind> }[ResourceKind];

export interface LoadedResourceOf<Kind extends ResourceKind> {
  readonly kind: Kind;
  readonly name: string;
  /** `Kind/name`. */
  readonly identity: string;
  /** The npm package it comes from; absent for the bundle's own. */
  readonly package?: string;
  /** The folder its files are relative to. */
  readonly folder: string;
  readonly resource: ResourceOf<Kind>;
  readonly document: SourceDocument;
  /** The text of the file that `systemRef` of an Agent names. */
  readonly prompt?: string;
  /** A hash of the module that `entry` names, and of everything it imports from the same folder. */
  readonly digest?: string;
}
