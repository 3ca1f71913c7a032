/** The codes of the tools in the base library: what a model reads when a call of it cannot be done. */
import type { CatalogueEntry } from './catalogue-entry.ts';

export const toolErrors = {
  E_COMMAND_SANDBOX: {
    meaning: 'The tool `bash` must not run a command without a sandbox, and there is none that works.',
    suggestion:
      'Install bubblewrap and allow user namespaces (`gdn doctor` says why it does not work), or set `sandbox: auto`.',
  },
  E_COMMAND_START: {
    meaning: 'The tool `bash` could not start a command.',
    suggestion: 'Read the message; correct the folder or the command.',
  },
  E_FETCH_FAILED: {
    meaning: 'The tool `http-fetch` got no answer, or one that it cannot read.',
    suggestion: 'Check the address; try again later if it is right.',
  },
  E_FETCH_HEADER: {
    meaning: 'A call of `http-fetch` may not set this header, or the header is malformed.',
    suggestion: 'Leave it out. What a host needs to know about you is for `headers` in the config of the tool.',
  },
  E_FETCH_REDIRECT: {
    meaning: 'A redirect is not followed: there were too many, or it would carry what was posted to another host.',
    suggestion: 'Ask for the final address itself.',
  },
  E_FETCH_REFUSED: {
    meaning: 'The host is not at a public address, or is none that the tool `http-fetch` may reach.',
    suggestion: 'Use a public address. The bundle can allow others with `allow` in the config of the tool.',
  },
  E_FETCH_TIMEOUT: {
    meaning: 'The host did not answer in time.',
    suggestion: 'Try again later, or raise `timeoutMs` in the config of the tool.',
  },
  E_FETCH_URL: {
    meaning: 'The address is no URL that can be fetched: only http and https, without a user or a password in it.',
    suggestion: 'Write it like `https://example.com/page`.',
  },
  E_FILE_EDIT: {
    meaning: 'The text that the tool `file-system` was to replace is not in the file, or is there more than once.',
    suggestion: 'Give the text exactly as it stands in the file, with enough around it that it is there once.',
  },
  E_FILE_FAILED: {
    meaning: 'The system refused what the tool `file-system` was to do with a file.',
    suggestion: 'Read the message; use another path, or have the cause removed.',
  },
  E_FILE_KIND: {
    meaning: 'What is at the path is not what the tool `file-system` needs there: a folder, a file, a pipe, a device.',
    suggestion: 'Use a path to a regular file, or to a folder where one is asked for.',
  },
  E_FILE_LIMIT: {
    meaning: 'A file is larger than the tool `file-system` works with.',
    suggestion: 'Work with less of it, or raise the limit in the config of the tool.',
  },
  E_FILE_MISSING: {
    meaning: 'There is no such file, folder or line.',
    suggestion: 'List the folder, or search for the file.',
  },
  E_FILE_OUTSIDE: {
    meaning: 'The path leads out of the folder that the tool `file-system` may use.',
    suggestion: 'Use a path inside the working folder, without links that lead out of it.',
  },
  E_FILE_PATTERN: {
    meaning: 'What the tool `file-system` was to search for is no pattern.',
    suggestion: 'Give a JavaScript regular expression as `pattern`, a `glob`, or both.',
  },
  E_FILE_READ_ONLY: {
    meaning: 'The tool `file-system` is configured to read only.',
    suggestion: 'Do it without writing, or set `readOnly: false` in the config of the tool.',
  },
  E_FILE_TEXT: {
    meaning: 'The file is no text in UTF-8.',
    suggestion: 'Use another tool for binary files.',
  },
  E_HOOK_BLOCKED: {
    meaning: 'A hook has said no: its command ended with exit code 2, or did not answer and so did not say yes.',
    suggestion: 'Read its reason. The hooks of an agent are in the config of its extension `hooks`.',
  },
  E_SKILL_FILE: {
    meaning:
      'A file of a skill that was asked for is not there, not inside the folder of the skill, no text, or too long.',
    suggestion: 'Ask for one of the files that opening the skill has listed.',
  },
  E_SKILL_UNKNOWN: {
    meaning: 'A skill was opened that is not there.',
    suggestion: 'Choose one of those the message lists; their folders are in the page of the extension `skills`.',
  },
} as const satisfies Record<string, CatalogueEntry>;
