import { toDomainName } from '../lib/domain-name.ts'
import { isIpAddress } from '../lib/ip.ts'
import * as env from './env.ts'

export const reputationVariables = {
  SENDING_IPS: env.list(
    'IP addresses that send mail and are looked up in block lists',
    'IP addresses',
    isIpAddress,
  ),
  RBL_ZONES: env.list(
    'DNS block lists that are queried',
    'zones such as bl.example.com',
    (entry) => toDomainName(entry) !== undefined,
  ),
  RBL_CHECK_SECONDS: env.integer('Seconds between block list look-ups', 3600, {
    min: 60,
    max: 86_400,
  }),
  DELIVERY_OPTIMIZER_ENABLED: env.flag('Pace outgoing mail by the limits of destinations', false),
} as const
