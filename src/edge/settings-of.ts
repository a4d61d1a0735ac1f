import { hash } from 'node:crypto'
import type { Config } from '../config/index.ts'
import { resolveMailServers } from '../config/mail-servers.ts'
import type { Vault } from '../lib/vault.ts'
import { loginKey } from '../mail/imap-login.ts'
import { hostDoveadmKey } from '../mail/mail-hosts.ts'
import { originKey } from '../mail/origin.ts'
import { StartupError } from '../startup-error.ts'
import type { DatabaseAddress } from './database-role.ts'
import { type Ports, STANDARD_PORTS } from './ports.ts'
import type { EdgeSettings, Folders, HostPart, HostRole, RedisAddress } from './settings.ts'

export const MASTER_USER = 'mailplane-filters'
export const PROXY_USER = 'mailplane-proxy'

/** Shared secrets of the mail servers and the control plane, derived from the root key. */
export const edgeSecrets = (vault: Vault) => ({
  doveadmKey: vault.fingerprint('administration interface of Dovecot', 'key'),
  proxyPassword: vault.fingerprint('login of proxies at backends', PROXY_USER),
  syncPassword: vault.fingerprint('copies between backends', 'password'),
  masterPassword: vault.fingerprint('master login for filters', MASTER_USER),
  controllerPassword: vault.fingerprint('controller of Rspamd', 'password'),
  originKey: originKey(vault),
  policyKey: vault.fingerprint('auth policy of Dovecot', 'key'),
  loginKey: loginKey(vault),
})

interface Given {
  config: Config
  vault: Vault
  database: DatabaseAddress
  /** The name and the roles of one of several hosts. */
  host?: NamedHost
}

export interface NamedHost {
  name: string
  roles: readonly HostRole[]
}

/** The settings that a private edge and real hosts have in common. */
function common({ config, vault, database, host }: Given, ports: Ports) {
  const secrets = edgeSecrets(vault)
  const own = config.mailServers
  const filterPort = config.EDGE_CONTENT_FILTER_PORT ?? ports.filter
  return {
    hostname: config.SVC_MAIL_HOSTNAME,
    database,
    doveadmKey: host ? hostDoveadmKey(vault, host.name) : secrets.doveadmKey,
    host: host && hostPart(config, secrets, host),
    loginKey: secrets.loginKey,
    controllerPassword: secrets.controllerPassword,
    master: {
      user: MASTER_USER,
      // A long random secret does not need a slow hash.
      passwordHash: `{SHA512.HEX}${hash('sha512', secrets.masterPassword)}`,
    },
    relayHost: config.EDGE_RELAY_HOST,
    policies: {
      host: config.EDGE_POLICY_HOST,
      // The rate limiter listens on these ports; 0 disables the request.
      ratePort: (config.EDGE_RATE_POLICY_PORT ?? (own.POLICY_RATE_PORT || ports.rate)) || undefined,
      accessPort:
        (config.EDGE_ACCESS_POLICY_PORT ?? (own.POLICY_ACCESS_PORT || ports.access)) || undefined,
      authPort: (config.EDGE_AUTH_POLICY_PORT ?? (own.AUTH_POLICY_PORT || ports.auth)) || undefined,
      authKey: secrets.policyKey,
      failOpen: config.EDGE_POLICY_FAIL_OPEN,
    },
    contentFilter:
      filterPort === 0
        ? undefined
        : { host: config.EDGE_POLICY_HOST, port: filterPort, key: secrets.originKey },
    dnsServers: config.SVC_DNS_SERVERS,
    redis: signingRedis(config),
  }
}

function hostPart(
  { EDGE_AUTOMATIC_HOST }: Config,
  secrets: ReturnType<typeof edgeSecrets>,
  { name, roles }: NamedHost,
): HostPart {
  if (roles.includes('backend') && EDGE_AUTOMATIC_HOST === undefined) {
    throw new StartupError(
      'set EDGE_AUTOMATIC_HOST: a backend sends redirects and replies through another host',
    )
  }
  return {
    name,
    roles,
    automaticHost: EDGE_AUTOMATIC_HOST ?? '',
    proxy: { user: PROXY_USER, password: secrets.proxyPassword },
    masterPassword: secrets.masterPassword,
    syncPassword: secrets.syncPassword,
  }
}

/** The settings of a private edge: all files under one folder, all listeners on loopback. */
export function privateSettings(
  given: Given,
  folder: string,
  ports: Ports,
  tls: EdgeSettings['tls'],
): EdgeSettings {
  const { config } = given
  return {
    ...common(given, ports),
    publicAddress: '127.0.0.1',
    privateAddress: '127.0.0.1',
    ports,
    folders: privateFolders(folder),
    tls,
    antivirus: config.EDGE_ANTIVIRUS ? { database: config.EDGE_ANTIVIRUS_DATABASE } : undefined,
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
    clamavConfig: `${folder}/etc/clamav`,
    clamavData: `${folder}/clamav`,
    dkim: `${folder}/dkim`,
    sni: `${folder}/sni`,
    mail: `${folder}/mail`,
    logs: `${folder}/log`,
  }) satisfies Folders

/** The settings of a real host: the folders of Debian's packages and the standard ports. */
export function hostSettings(given: Given): EdgeSettings {
  const { config } = given
  const { EDGE_DKIM_DIR, EDGE_SNI_DIR } = resolveMailServers(config.mailServers)
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
      clamavConfig: '/etc/clamav',
      clamavData: '/var/lib/clamav',
      dkim: EDGE_DKIM_DIR,
      sni: EDGE_SNI_DIR,
      mail: config.EDGE_MAIL_DIR,
      logs: '/var/log/mailplane',
    },
    tls: { certificate: config.EDGE_TLS_CERT, key: config.EDGE_TLS_KEY },
    antivirus: config.EDGE_ANTIVIRUS
      ? { database: config.EDGE_ANTIVIRUS_DATABASE ?? '/var/lib/clamav' }
      : undefined,
    trustedNetworks: ['127.0.0.0/8', ...config.EDGE_TRUSTED_NETWORKS],
    isPrivate: false,
  }
}

/** Rspamd does not support TLS to Redis; with rediss: the keys are files, as without Redis. */
function signingRedis({ REDIS_URL }: Pick<Config, 'REDIS_URL'>): RedisAddress | undefined {
  if (REDIS_URL === undefined || !REDIS_URL.startsWith('redis:')) return undefined
  const url = new URL(REDIS_URL)
  return {
    host: url.hostname,
    port: Number(url.port || 6379),
    password: decodeURIComponent(url.password),
    database: url.pathname.slice(1) || '0',
  }
}
