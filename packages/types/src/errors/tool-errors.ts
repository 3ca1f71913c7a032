/** The error codes of the base library's tools. Models read these errors. */
import type { CatalogueEntry } from './catalogue-entry.ts';

export const toolErrors = {
  E_COMMAND_SANDBOX: {
    meaning: 'The tool `bash` is configured to need a sandbox, and no sandbox works here.',
    suggestion: 'Install bubblewrap and allow user namespaces (`gdn doctor` gives the reason), or set `sandbox: auto`.',
  },
  E_COMMAND_START: {
    meaning: 'The tool `bash` could not start a command.',
    suggestion: 'Read the message; correct the folder or the command.',
  },
  E_FETCH_FAILED: {
    meaning: 'The tool `http-fetch` got no answer, or an unreadable one.',
    suggestion: 'Check the address; try again later if it is right.',
  },
  E_FETCH_HEADER: {
    meaning: 'A call of `http-fetch` may not set this header, or the header is malformed.',
    suggestion: 'Leave the header out. Headers such as credentials belong in `headers` in the config of the tool.',
  },
  E_FETCH_REDIRECT: {
    meaning: 'A redirect was not followed: there were too many, or it would send the posted body to another host.',
    suggestion: 'Fetch the final address directly.',
  },
  E_FETCH_REFUSED: {
    meaning: 'The host does not have a public address, or the config of the tool `http-fetch` does not allow it.',
    suggestion: 'Use a public address. The bundle can allow others with `allow` in the config of the tool.',
  },
  E_FETCH_TIMEOUT: {
    meaning: 'The host did not answer in time.',
    suggestion: 'Try again later, or raise `timeoutMs` in the config of the tool.',
  },
  E_FETCH_URL: {
    meaning: 'The address cannot be fetched: it must be an http or https URL without a user or a password.',
    suggestion: 'Write it like `https://example.com/page`.',
  },
  E_FILE_EDIT: {
    meaning: 'The text to replace is not in the file, or is in it more than once.',
    suggestion: 'Copy the text exactly from the file, with enough of its surroundings to make it unique.',
  },
  E_FILE_FAILED: {
    meaning: 'The operating system refused an operation of the tool `file-system`.',
    suggestion: 'Read the message; use another path, or ask the user to remove the cause.',
  },
  E_FILE_KIND: {
    meaning: 'The path leads to the wrong kind of file: a folder instead of a file, a pipe, a device.',
    suggestion: 'Use a path to a regular file, or to a folder if the call expects a folder.',
  },
  E_FILE_LIMIT: {
    meaning: 'The file is too large for the tool `file-system`.',
    suggestion: 'Read or write a smaller part, or raise the limit in the config of the tool.',
  },
  E_FILE_MISSING: {
    meaning: 'There is no such file, folder or line.',
    suggestion: 'List the folder, or search for the file.',
  },
  E_FILE_OUTSIDE: {
    meaning: 'The path leads out of the folder that the tool may use.',
    suggestion: 'Use a path inside the working folder, without links that lead out of it.',
  },
  E_FILE_PATTERN: {
    meaning: 'The search pattern for the tool `file-system` is not valid.',
    suggestion: 'Give a JavaScript regular expression as `pattern`, a `glob`, or both.',
  },
  E_FILE_READ_ONLY: {
    meaning: 'The tool `file-system` is configured to read only.',
    suggestion: 'Find a way without writing, or set `readOnly: false` in the config of the tool.',
  },
  E_FILE_TEXT: {
    meaning: 'The file is not UTF-8 text.',
    suggestion: 'Use another tool for binary files.',
  },
  E_HOOK_BLOCKED: {
    meaning: 'A hook blocked this turn, step or tool call: its command ended with exit code 2, or could not be run.',
    suggestion:
      'Read the reason in the message. The hooks of an agent are in its `spec.hooks` and in the config of its extension `hooks`. If a command cannot be started, run `chmod +x` on its file; with `onFailure: continue`, a command that cannot be run does not block.',
  },
  E_HOOK_FAILED: {
    meaning: 'The tool call of a hook with `required: true` failed, so this turn, step or tool call failed, too.',
    suggestion:
      'Read the reason in the message. Correct the tool or the arguments of the hook, or leave out `required: true`.',
  },
  E_REQUIRED_TOOLS: {
    meaning: 'The turn ended without a successful call of a tool that the extension `required-tools` demands.',
    suggestion:
      'Read in the history why the model did not call the tool. Tell the model in the system prompt when to call it, raise ' +
      '`maxReminders`, or set `whenMissing: answer` in the config of the extension.',
  },
  E_SKILL_FILE: {
    meaning: "A skill's file is missing, outside the skill's folder, not text, or too long.",
    suggestion: 'Use one of the files that were listed when the skill was opened.',
  },
  E_SKILL_UNKNOWN: {
    meaning: 'There is no such skill.',
    suggestion: 'Choose a skill that the message lists.',
  },
} as const satisfies Record<string, CatalogueEntry>;
