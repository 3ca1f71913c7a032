/** A bundle as it was read and checked. Nothing of it has run. */
import type { BundleProblem } from './bundle-problem.ts';
import type { ResourceKind, ResourceOf } from './kinds/resource-schemas.ts';
import type { SourceDocument } from './place.ts';
import type { ReferenceUse } from './references.ts';

export interface Bundle {
  /** Its real path. */
  readonly folder: string;
  /** Its own, and those of the packages it refers to. */
  readonly resources: readonly LoadedResource[];
  /** In the order of the files; one refuses the whole bundle. */
  readonly errors: readonly BundleProblem[];
  readonly warnings: readonly BundleProblem[];
  readonly valid: boolean;
  /** The folder of the bundle itself, and through it those of packages. */
  readonly scope: Scope;
  /** What the bundle's `.env` may contribute to declared values; the environment itself wins over it. */
  readonly environmentFile: Readonly<Record<string, string>>;
}

/** One folder with resources: the bundle's own, or that of an npm package. Names are looked up inside it. */
export interface Scope {
  /** Its real path: files of its resources are relative to it and inside it. */
  readonly folder: string;
  /** The npm name; absent for the bundle's own. */
  readonly package?: string;
  readonly resources: readonly LoadedResource[];
  /** Those that are wrong somewhere, and so no resources; what they refer to can be looked at. */
  readonly broken: readonly ReferringResource[];
  /** By `Kind/name`; the first of that name. */
  readonly byIdentity: ReadonlyMap<string, LoadedResource>;
  /** `Kind/name` of everything that is declared, also of what is broken. */
  readonly declared: ReadonlySet<string>;
  /** Something was declared that could not be read: what seems to be missing may be that. */
  readonly isIncomplete: boolean;
  /** The packages its resources refer to, by npm name; one that is not installed is not among them. */
  readonly packages: ReadonlyMap<string, Scope>;
}

/** What a document refers to. */
export interface ReferringResource {
  /** `Kind/name`, as far as it says so. */
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
  /** Of an Agent with a `systemRef`: the text of that file. */
  readonly prompt?: string;
  /** Of what has an `entry`: a hash of the module and of everything of the same folder that it imports. */
  readonly digest?: string;
}
