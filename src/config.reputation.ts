import { isIP } from 'node:net'
import { toDomainName } from './lib/domain-name.ts'
import * as env from './lib/env.ts'

export const reputationVariables = {
  SENDING_IPS: env.list(
    'Addresses that mail leaves from, which block lists are asked about',
    'IP addresses',
    (entry) => isIP(entry) > 0 && !entry.includes('%'),
  ),
  RBL_ZONES: env.list(
    'Block lists of the DNS that are asked',
    'zones such as bl.example.com',
    (entry) => toDomainName(entry) !== undefined,
  ),
  RBL_CHECK_SECONDS: env.integer('Seconds between questions to block lists', 3600, {
    min: 60,
    max: 86_400,
  }),
  DELIVERY_OPTIMIZER_ENABLED: env.flag('Pace outgoing mail by the limits of destinations', false),
} as const
