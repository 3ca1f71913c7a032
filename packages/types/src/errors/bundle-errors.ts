/** The error codes for problems in a bundle, found before the bundle runs. */
import type { CatalogueEntry } from './catalogue-entry.ts';

export const bundleErrors = {
  E_AGENT_UNGUARDED: {
    meaning:
      'An agent reads private data and the text of strangers, and can send data away, so a text can make it give the data to a stranger. No person approves its calls.',
    suggestion:
      'Add `Extension/approval` to the swarm, so that a person decides, or list the allowed hosts in `only` of the config of `Tool/http-fetch`.',
  },
  E_BUNDLE_FILE: {
    meaning: 'A file of the bundle was ignored: it has no Goondan resource, or cannot be read.',
    suggestion: 'Move the file into its own folder, or correct the part that the message names.',
  },
  E_BUNDLE_INVALID: {
    forPrograms: true,
    meaning: 'The bundle has errors, so it is not used.',
    suggestion: 'Correct the errors that the message lists, then check with `gdn validate`.',
  },
  E_BUNDLE_LIMIT: {
    meaning: 'A bundle exceeds a limit of size or number.',
    suggestion: 'Split the bundle, or remove the part that the message names.',
  },
  E_BUNDLE_MISSING: {
    forPrograms: true,
    meaning: 'There is no bundle here: the folder is missing or has no `goondan.yaml`.',
    suggestion: 'Name the folder that holds `goondan.yaml` with `--bundle`, or create a bundle with `gdn init`.',
  },
  E_BUNDLE_SECRET: {
    meaning: 'A file of the bundle contains the token of the cluster or the password of the database.',
    suggestion: 'Move the file out of the folder of the bundle, or take the secret out of it.',
  },
  E_BUNFIG_REFUSED: {
    meaning: 'The `bunfig.toml` of a bundle preloads a module. Goondan ignores the file, so the module was not loaded.',
    suggestion: 'Import the module where it is needed, and remove the `preload` line.',
  },
  E_ENV_FILE: {
    meaning:
      'A line of a `.env` file has no valid name, or sets a variable that only the environment may set, or the file cannot be read. Such lines were ignored.',
    suggestion: 'Write one `NAME=value` per line. Set variables such as `PATH` and `HTTPS_PROXY` in the environment.',
  },
  E_ENV_MISSING: {
    meaning: 'A resource takes a value from an environment variable that is not set.',
    suggestion: 'Set the variable in the environment, or in the `.env` of the bundle.',
  },
  E_IMPORT_MISSING: {
    meaning: 'A module of the bundle imports a package or file that is missing, where the import may be meant to fail.',
    suggestion: 'Install the package beside the bundle with `npm install`, or correct the import.',
  },
  E_INIT_FOLDER: {
    meaning:
      'A new bundle cannot be written: its folder has files other than those of npm, git and `tsconfig.json`, or cannot ' +
      'be created or written to.',
    suggestion: 'Name a folder that is new or empty, as in `gdn init my-swarm`.',
  },
  E_PACKAGE_MISSING: {
    meaning: 'The bundle names an npm package that is not installed or is not a Goondan package.',
    suggestion:
      'Install it in the folder of the bundle with `npm install --ignore-scripts`. A Goondan package has a `goondan.yaml`.',
  },
  E_PRICES_FILE: {
    meaning: 'A price file cannot be read, or has mistakes.',
    suggestion: 'Correct the fields that the message names. The format is on the page `docs/usage.md`.',
  },
  E_PROMPT_FILE: {
    meaning: 'The file of a prompt is missing, too large, or not text.',
    suggestion: 'Check `prompt.systemRef`: it is relative to the folder of the bundle.',
  },
  E_REF_CYCLE: {
    meaning: 'References form a cycle.',
    suggestion: 'Remove one of the references the message lists.',
  },
  E_REF_INVALID: {
    meaning: 'A reference is malformed.',
    suggestion: 'Write `Kind/name`, or `{ kind, name, package }`.',
  },
  E_REF_KIND: {
    meaning: 'A reference names a resource of the wrong kind.',
    suggestion: 'Use a resource of the kind the message names.',
  },
  E_REF_MISSING: {
    meaning: 'A reference names a resource that is not declared.',
    suggestion: 'Declare it, or correct the name.',
  },
  E_REF_TWICE: {
    meaning: 'The same reference is listed twice, or two names in a list differ in capital letters only.',
    suggestion: 'Remove one of the two.',
  },
  E_RESOURCE_DUPLICATE: {
    meaning: 'Two resources of one kind have the same name, or names that differ in capital letters only.',
    suggestion: 'Rename one of them.',
  },
  E_RESOURCE_KEY: {
    meaning: 'A resource has a field that its kind does not know.',
    suggestion: 'Remove the field, or correct its name.',
  },
  E_RESOURCE_KIND: {
    meaning: 'A document has no `kind`, or its `kind` is unknown.',
    suggestion: 'Use Model, Agent, Swarm, Tool, Extension, Connector, Connection or Package.',
  },
  E_RESOURCE_NAME: {
    meaning: 'The name of a resource is not valid.',
    suggestion:
      'Use letters, digits, `-` and single `.`, starting with a letter and not ending with `.`, at most 63 characters.',
  },
  E_SWARM_UNKNOWN: {
    meaning:
      'No swarm with that name is declared in the bundle or has run from its folder, or several swarms match, or a bundle with ' +
      'several agents declares no Swarm.',
    suggestion: 'Name one of the swarms that the message lists.',
  },
  E_YAML_KEY: {
    meaning: 'A key is in the same object twice, is not a string, or is a forbidden name.',
    suggestion: 'Remove or rename the key.',
  },
  E_YAML_LIMIT: {
    meaning: 'A YAML file is too large, too deep, or has too many aliases.',
    suggestion: 'Split the file: at most 1 MB and 100 documents each, 64 levels deep, with 100 aliases.',
  },
  E_YAML_SYNTAX: {
    meaning: 'A file is not valid YAML.',
    suggestion: 'Correct the line that the message names; the usual causes are indentation and quotes.',
  },
} as const satisfies Record<string, CatalogueEntry>;
