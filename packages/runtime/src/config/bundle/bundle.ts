/** A bundle that was read and checked. None of its code has run. */
import type { JsonSchema } from '@goondan/types';
import type { BundleProblem } from './bundle-problem.ts';
import type { ResourceKind, ResourceOf } from './kinds/resource-schemas.ts';
import type { SourceDocument } from './place.ts';
import type { ReferenceUse } from './references.ts';

export interface Bundle {
  /** The real path of the bundle's folder. */
  readonly folder: string;
  /** The bundle's own resources, and those of the packages it refers to. */
  readonly resources: readonly LoadedResource[];
  /** Errors in the order of the files. A bundle with an error is rejected as a whole. */
  readonly errors: readonly BundleProblem[];
  readonly warnings: readonly BundleProblem[];
  readonly valid: boolean;
  /** The scope of the bundle itself. It contains the scopes of its packages. */
  readonly scope: Scope;
  /**
   * Variables from the bundle's `.env`. If a variable is also set in the environment, the value from the environment is
   * used.
   */
  readonly environmentFile: Readonly<Record<string, string>>;
  /** A hash of the lock files that apply to the bundle; absent if there are none. */
  readonly packages?: string;
}

/** One folder with resources, of the bundle or of an npm package. Names are looked up inside it. */
export interface Scope {
  /**
   * The real path of the folder. File names in the scope's resources are relative to this folder, and the files must be
   * inside it.
   */
  readonly folder: string;
  /** The npm name of the package; absent for the scope of the bundle itself. */
  readonly package?: string;
  readonly resources: readonly LoadedResource[];
  /** Documents with an error. They are not in `resources`, but their references are checked, too. */
  readonly broken: readonly ReferringResource[];
  /** Resources by `Kind/name`. If a name is declared twice, the map has the first resource. */
  readonly byIdentity: ReadonlyMap<string, LoadedResource>;
  /** `Kind/name` of everything that is declared, including broken documents. */
  readonly declared: ReadonlySet<string>;
  /**
   * True when a document, or a part of it, could not be read. A resource or a reference that seems to be missing may be
   * in that part.
   */
  readonly isIncomplete: boolean;
  /** Declarations whose kind or name could not be read. Each may be the resource to which a reference leads. */
  readonly unknown: readonly UnknownResource[];
  /** The packages that the resources refer to, by npm name. Packages that are not installed are left out. */
  readonly packages: ReadonlyMap<string, Scope>;
}

/** The parts of `Kind/name` that could be read. */
export interface UnknownResource {
  readonly kind?: ResourceKind;
  readonly name?: string;
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
  /** The npm package that the resource comes from; absent for the bundle's own resources. */
  readonly package?: string;
  /** The folder to which file names in the resource are relative. */
  readonly folder: string;
  readonly resource: ResourceOf<Kind>;
  readonly document: SourceDocument;
  /** True for the swarm of a lone agent, and for the model that is written in an agent. They have no document of their own. */
  readonly isImplied?: true;
  /** The text of the file that `systemRef` of an Agent names. */
  readonly prompt?: string;
  /** The schema in the file that `output.schemaRef` of an Agent names. */
  readonly outputSchema?: JsonSchema;
  /** A hash of the module that `entry` names, and of everything that the module imports from the same folder. */
  readonly digest?: string;
  /** The files that `digest` covers, relative to `folder` and sorted. */
  readonly files?: readonly string[];
  /** True if one of these files imports another one with `import()` or `require`. */
  readonly isLazy?: boolean;
}
