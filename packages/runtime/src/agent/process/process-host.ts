/** The process in which an agent runs, as a port: a test must not end its own process or change its folder. */
import type { ForgetFiles } from '../change/agent-changes.ts';
import type { ChannelEnd } from '../../ipc/channel/channel.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import type { RunningCode } from '../../ipc/running-code.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import type { JournalLocation } from '../../workspace/layout/instance-paths.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AgentStore } from '../../store/store.ts';
import type { StoreWarning } from '../../workspace/store-ports.ts';

/** The channel of an agent process to the orchestrator. */
export type AgentChannel = ChannelEnd<FromAgent, ToAgent>;

export interface ProcessHost {
  readonly clock: Clock;
  /** Changes the working directory. Throws the system's error. */
  moveTo(folder: string): void;
  /** Loads modules that turns will need. */
  warmUp(): Promise<void>;
  /** Opens the store. In a shared process, all conversations get the same one. */
  openStore(location: JournalLocation, warn: (warning: StoreWarning) => void): Promise<AgentStore>;
  /** Makes imports of Goondan's packages in bundle code resolve to the copy that this process runs. */
  answerOwnPackages(bundleFolder?: string): void;
  /**
   * Attributes draws of the clock and of random numbers to the layer that takes them. Called once, before bundle code
   * is imported.
   */
  watchDraws(): unknown;
  /** Calls the listener when the process gets a request to end, such as SIGTERM. */
  onTerminate(listener: () => void): void;
  /** Calls the listener for an uncaught error. */
  onUncaught(listener: (thrown: unknown) => void): void;
  /** Notes which code of the bundle runs. `seat`: that of the conversation in a shared process. */
  running?(seat?: number): RunningCode | undefined;
  /** Set in a process that also runs other conversations. */
  readonly shared?: { readonly forget: ForgetFiles };
  /** Ends the process, or the conversation in a shared process; returns only there and in a test. */
  exit(code: number): void;
}
