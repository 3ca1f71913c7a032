/** The codes of what goes wrong about a bundle, before anything of it runs. */
import type { CatalogueEntry } from './catalogue-entry.ts';

export const bundleErrors = {
  E_BUNDLE_FILE: {
    meaning: 'A file of the bundle was left out: it holds no resource of Goondan, or cannot be read.',
    suggestion: 'Move it into a folder of its own, or correct what the message names.',
  },
  E_BUNDLE_INVALID: {
    meaning: 'The bundle has errors, so nothing of it is run.',
    suggestion: 'Correct what the message lists, then run `gdn validate` to see whether that was all.',
  },
  E_BUNDLE_LIMIT: {
    meaning: 'A bundle has more of something than is looked at.',
    suggestion: 'Split it up, or leave out what the message names.',
  },
  E_BUNDLE_MISSING: {
    meaning: 'There is no bundle: no such folder, or no `goondan.yaml` in it.',
    suggestion: 'Name the folder that holds `goondan.yaml`, or make one with `gdn init`.',
  },
  E_BUNFIG_REFUSED: {
    meaning: 'The `bunfig.toml` of a bundle preloads something. It was left out, as all of that file is.',
    suggestion: 'Import it in the module that needs it, and remove the line.',
  },
  E_ENV_FILE: {
    meaning: 'A line of a `.env` file is no `NAME=value`, or the file cannot be read. What is wrong was left out.',
    suggestion: 'Write one `NAME=value` in each line.',
  },
  E_ENV_MISSING: {
    meaning: 'A resource takes a value from an environment variable that is not set.',
    suggestion: 'Set the variable in the environment, or in the `.env` of the bundle.',
  },
  E_ENV_REFUSED: {
    meaning: 'The `.env` of a bundle sets a variable that only the environment itself may set. It was left out.',
    suggestion: 'Set it in the environment if you want it, and remove the line.',
  },
  E_IMPORT_MISSING: {
    meaning: 'A module of the bundle imports something that is not there.',
    suggestion: 'Install the package beside the bundle with `npm install`, or correct the import.',
  },
  E_INIT_FOLDER: {
    meaning: 'A new bundle cannot be written: its folder has something in it already, or cannot be made or written to.',
    suggestion: 'Name a folder that is new or empty, as in `gdn init my-swarm`.',
  },
  E_NPM_FAILED: {
    meaning: 'What npm was asked to do failed, or npm could not be run.',
    suggestion: 'Read what npm says above; nothing of the bundle was changed.',
  },
  E_PACKAGE_FILE: {
    meaning: 'The `package.json` of the bundle is no JSON that npm understands, or cannot be read or written.',
    suggestion: 'Correct the file the message names.',
  },
  E_PACKAGE_INVALID: {
    meaning: 'A package of Goondan has errors in its `goondan.yaml`, so it was not kept.',
    suggestion: 'Ask for another version of it, or tell whoever makes it what is listed above.',
  },
  E_PACKAGE_MISSING: {
    meaning: 'The bundle names an npm package that is not installed, or that is no package of Goondan.',
    suggestion: 'Install it with `gdn package add`; a package of Goondan has a `goondan.yaml` in its folder.',
  },
  E_PACKAGE_USED: {
    meaning: 'A package was not removed, because the bundle still refers to it.',
    suggestion: 'Remove the references that are listed above, then remove the package.',
  },
  E_PROMPT_FILE: {
    meaning: 'The file of a prompt is missing, too large, or not text.',
    suggestion: 'Check `prompt.systemRef`: it is relative to the folder of the bundle.',
  },
  E_REF_CYCLE: {
    meaning: 'References lead back to where they started.',
    suggestion: 'Remove one of the references the message lists.',
  },
  E_REF_INVALID: {
    meaning: 'A reference is malformed.',
    suggestion: 'Write `Kind/name`, or `{ kind, name, package }`.',
  },
  E_REF_KIND: {
    meaning: 'A reference names a resource of another kind than the one that belongs there.',
    suggestion: 'Use a resource of the kind the message names.',
  },
  E_REF_MISSING: {
    meaning: 'A reference names a resource that is not declared.',
    suggestion: 'Declare it, or correct the name.',
  },
  E_REF_TWICE: {
    meaning: 'The same thing is listed twice where it can stand only once.',
    suggestion: 'Remove one of the two.',
  },
  E_RESOURCE_DUPLICATE: {
    meaning: 'Two resources of one kind have the same name.',
    suggestion: 'Rename one of them.',
  },
  E_RESOURCE_KEY: {
    meaning: 'A resource has a field that its kind does not know.',
    suggestion: 'Remove the field, or correct its name.',
  },
  E_RESOURCE_KIND: {
    meaning: 'A document says no kind, or one that there is not.',
    suggestion: 'Use Model, Agent, Swarm, Tool, Extension, Connector, Connection or Package.',
  },
  E_RESOURCE_NAME: {
    meaning: 'A resource has a name that no resource can have.',
    suggestion: 'Use lower-case letters, digits and `-`, starting with a letter, at most 63 characters.',
  },
  E_SWARM_UNKNOWN: {
    meaning:
      'No swarm of that name is declared in the bundle or ran from its folder, or it is open which one is meant.',
    suggestion: 'Name one of the swarms the message lists.',
  },
  E_YAML_KEY: {
    meaning: 'A key stands twice in the same object, is no text, or is one that is never allowed.',
    suggestion: 'Remove or rename the key.',
  },
  E_YAML_LIMIT: {
    meaning: 'A YAML file is larger, deeper or more entangled than any bundle needs to be.',
    suggestion: 'Split the file: at most 1 MB and 100 documents each, 64 levels deep, with 100 aliases.',
  },
  E_YAML_SYNTAX: {
    meaning: 'A file is not the YAML that bundles are written in.',
    suggestion: 'Correct the place the message names; indentation and quotes are the usual reasons.',
  },
} as const satisfies Record<string, CatalogueEntry>;
