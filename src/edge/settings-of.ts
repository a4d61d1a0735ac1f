import { hash } from 'node:crypto'
import { POLICY_PORTS } from '../config.rate-limits.ts'
import type { Config } from '../config.ts'
import type { Vault } from '../lib/vault.ts'
import { originKey } from '../mail/origin.ts'
import type { DatabaseAddress } from './database-role.ts'
import { type Ports, STANDARD_PORTS } from './ports.ts'
import type { EdgeSettings, Folders, RedisAddress } from './settings.ts'

export const MASTER_USER = 'mailplane-filters'

/** Secrets between the servers and the control plane. They follow from the root key, like the role's. */
export const edgeSecrets = (vault: Vault) => ({
  doveadmKey: vault.fingerprint('administration interface of Dovecot', 'key'),
  masterPassword: vault.fingerprint('master login for filters', MASTER_USER),
  controllerPassword: vault.fingerprint('controller of Rspamd', 'password'),
  originKey: originKey(vault),
  policyKey: vault.fingerprint('auth policy of Dovecot', 'key'),
})

interface Given {
  config: Config
  vault: Vault
  database: DatabaseAddress
}

/** What holds on a private edge and on real hosts alike. */
function common({ config, vault, database }: Given, ports: Ports) {
  const secrets = edgeSecrets(vault)
  const filterPort = config.EDGE_CONTENT_FILTER_PORT ?? ports.filter
  return {
    hostname: config.SVC_MAIL_HOSTNAME,
    database,
    doveadmKey: secrets.doveadmKey,
    controllerPassword: secrets.controllerPassword,
    master: {
      user: MASTER_USER,
      // A long random secret needs no slow hash.
      passwordHash: `{SHA512.HEX}${hash('sha512', secrets.masterPassword)}`,
    },
    relayHost: config.EDGE_RELAY_HOST,
    policies: {
      host: config.EDGE_POLICY_HOST,
      // The rate limiter listens there; 0 turns a question off.
      ratePort: (config.EDGE_RATE_POLICY_PORT ?? rateLimiterPort(config, 'rate')) || undefined,
      accessPort:
        (config.EDGE_ACCESS_POLICY_PORT ?? rateLimiterPort(config, 'access')) || undefined,
      authPort: (config.EDGE_AUTH_POLICY_PORT ?? rateLimiterPort(config, 'auth')) || undefined,
      authKey: secrets.policyKey,
      failOpen: config.EDGE_POLICY_FAIL_OPEN,
    },
    contentFilter:
      filterPort === 0
        ? undefined
        : { host: config.EDGE_POLICY_HOST, port: filterPort, key: secrets.originKey },
    redis: signingRedis(config),
  }
}

/** Where the rate limiter of this configuration can be asked. */
function rateLimiterPort(config: Given['config'], which: keyof typeof POLICY_PORTS): number {
  const set = { rate: 'POLICY_RATE_PORT', access: 'POLICY_ACCESS_PORT', auth: 'AUTH_POLICY_PORT' }
  return (config[set[which] as 'POLICY_RATE_PORT'] ?? 0) || POLICY_PORTS[which]
}

/** Under one folder, on loopback. */
export function privateSettings(
  given: Given,
  folder: string,
  ports: Ports,
  tls: EdgeSettings['tls'],
): EdgeSettings {
  return {
    ...common(given, ports),
    publicAddress: '127.0.0.1',
    privateAddress: '127.0.0.1',
    ports,
    folders: privateFolders(folder),
    tls,
    trustedNetworks: ['127.0.0.0/8'],
    isPrivate: true,
  }
}

export const privateFolders = (folder: string) =>
  ({
    postfixConfig: `${folder}/etc/postfix`,
    postfixQueue: `${folder}/spool`,
    postfixData: `${folder}/postfix`,
    postfixMeta: `${folder}/etc/postfix-meta`,
    dovecotConfig: `${folder}/etc/dovecot`,
    dovecotRun: `${folder}/run`,
    dovecotState: `${folder}/state`,
    rspamdConfig: `${folder}/etc/rspamd`,
    rspamdData: `${folder}/rspamd`,
    rspamdPid: `${folder}/rspamd/rspamd.pid`,
    dkim: `${folder}/dkim`,
    mail: `${folder}/mail`,
    logs: `${folder}/log`,
  }) satisfies Folders

/** Where Debian's packages have things, on the ports that clients expect. */
export function hostSettings(given: Given): EdgeSettings {
  const { config } = given
  return {
    ...common(given, STANDARD_PORTS),
    publicAddress: '*',
    privateAddress: config.EDGE_PRIVATE_ADDRESS,
    ports: STANDARD_PORTS,
    folders: {
      postfixConfig: '/etc/postfix',
      postfixQueue: '/var/spool/postfix',
      postfixData: '/var/lib/postfix',
      postfixMeta: undefined,
      dovecotConfig: '/etc/dovecot',
      dovecotRun: '/run/dovecot',
      dovecotState: '/var/lib/dovecot',
      rspamdConfig: '/etc/rspamd',
      rspamdData: '/var/lib/rspamd',
      rspamdPid: '/run/rspamd/rspamd.pid',
      dkim: config.EDGE_DKIM_DIR,
      mail: config.EDGE_MAIL_DIR,
      logs: '/var/log/mailplane',
    },
    tls: { certificate: config.EDGE_TLS_CERT, key: config.EDGE_TLS_KEY },
    trustedNetworks: ['127.0.0.0/8', ...config.EDGE_TRUSTED_NETWORKS],
    isPrivate: false,
  }
}

/** Rspamd speaks no TLS to a Redis; then, as without one, keys are kept in files. */
export function signingRedis({ REDIS_URL }: Pick<Config, 'REDIS_URL'>): RedisAddress | undefined {
  if (REDIS_URL === undefined || !REDIS_URL.startsWith('redis:')) return undefined
  const url = new URL(REDIS_URL)
  return {
    host: url.hostname,
    port: Number(url.port || 6379),
    password: decodeURIComponent(url.password),
    database: url.pathname.slice(1) || '0',
  }
}
