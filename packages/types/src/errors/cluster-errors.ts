/** The error codes of stores that many nodes share, and of these nodes. */
import type { CatalogueEntry } from './catalogue-entry.ts';

export const clusterErrors = {
  E_CLUSTER_CERTIFICATE: {
    meaning: 'The certificate of a node is not the one that the store has for it, or cannot be used.',
    suggestion: 'Check the address of the node, and the files of `--tls-cert` and `--tls-key`.',
  },
  E_CLUSTER_TOKEN: {
    meaning: 'The token of a cluster is missing, unknown, or does not allow this operation.',
    suggestion:
      'Set GOONDAN_CLUSTER_TOKEN to a token, or to `@` and the path of a file with it. `gdn store token add` makes a token.',
  },
  E_DEPLOY_CONFLICT: {
    meaning: 'Another bundle is deployed than the one that this command is about.',
    suggestion:
      'Look at what somebody else has deployed, and bring it into this folder. Then deploy again, with the digest of the deployed bundle in `--expect`, or without `--expect` to replace it anyway.',
  },
  E_NODE_TAKEN: {
    meaning: 'A living node of the swarm has this name.',
    suggestion:
      'Choose another name with `--node`, or stop the other node. If its machine is gone, wait until its lease has ended (`--lease`).',
  },
  E_NODE_UNKNOWN: {
    meaning: 'No living node of the swarm has this name.',
    suggestion: 'List the nodes with `gdn nodes`.',
  },
  E_POSTGRES_MISSING: {
    meaning: 'A package that PostgreSQL needs is not installed.',
    suggestion: 'Install the package that the message names.',
  },
  E_STORE_ADDRESS: {
    meaning: 'The address of a store cannot be used.',
    suggestion:
      'Write it as `postgres://user@host/database`, without a password. An address with a password belongs in GOONDAN_STORE or in a file, as `@path`.',
  },
  E_STORE_AWAY: {
    forPrograms: true,
    meaning: 'The database of the store cannot be reached.',
    suggestion: 'Check that the database runs and that its address is right. Nothing that was accepted is lost.',
  },
  E_STORE_SCHEMA: {
    meaning: 'The database has no tables of Goondan, or those of another version.',
    suggestion:
      'Run `gdn store init` for a new database. For tables of another version, use the version of Goondan that made them, or another database.',
  },
  E_SWARM_TAKEN: {
    meaning: 'The store has another swarm with this name, and the name is the identity of a swarm in a store.',
    suggestion:
      'Import this swarm into another database. To keep two swarms in one database, give them different names before their first run: `metadata.name` of the Swarm in goondan.yaml.',
  },
} as const satisfies Record<string, CatalogueEntry>;
