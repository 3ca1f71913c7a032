/** What the exit code of `gdn` means. The launcher has one more, 3, for a wrong set-up. */
export const exitCodes = {
  ok: 0,
  failure: 1,
  /** The command line is not what it should be. */
  usage: 2,
  /** 128 + SIGINT, as shells say it. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
