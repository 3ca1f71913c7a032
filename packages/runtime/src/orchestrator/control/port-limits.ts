/** The limits of a control port for clients without a right token. Its other limits are those of the control socket. */
export const portLimits = {
  /** The time for which a right token is not checked again, and the number of such tokens. */
  keptMs: 5_000,
  mostKept: 256,
  /** The time after which the tokens of open streams are checked again. */
  recheckMs: 30_000,
  /** The number of tokens that are being checked, and of those from one address. Others get `E_CONTROL_FULL`. */
  mostChecks: 64,
  mostChecksOfAddress: 16,
  /**
   * The time that a check waits for each wrong token of the last `strikeMs` from the same address, and the longest such
   * time.
   */
  slowMs: 50,
  slowestMs: 2_000,
  strikeMs: 60_000,
  /** The number of addresses whose wrong tokens are counted. */
  mostAddresses: 1_000,
};
