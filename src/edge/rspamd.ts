import { keyFile, SELECTORS_FILE } from '../mail/signing-keys.files.ts'
import { REDIS_KEYS, REDIS_SELECTORS } from '../mail/signing-keys.redis.ts'
import { antivirusRules } from './clamav.ts'
import type { EdgeSettings, RenderedFile } from './settings.ts'

/** Files named by their content: shared by the edges of a machine, as compiling takes seconds. */
const COMPILED_PATTERNS = '/var/lib/rspamd'

/** Above the time of all tries of the virus scanner, below that of the content filter. */
const SCAN_TIME = 'task_timeout = 50s;'

/** Public suffixes. Rspamd compiles its full list for 20 s, to find URLs that no rule reads here. */
const SUFFIXES = 'suffixes.dat'

/**
 * On a private edge Rspamd signs mail, verifies DKIM and detects only the spam test patterns, so that
 * it looks up nothing but DKIM keys. On a real host these files extend the full configuration of the
 * package.
 */
export function rspamdFiles(edge: EdgeSettings): RenderedFile[] {
  if (edge.isPrivate) {
    return [
      { name: 'rspamd.conf', text: privateConfig(edge), readers: '_rspamd' },
      {
        name: 'rspamd.lua',
        text: '-- No rules: this Rspamd only signs mail and detects test patterns.\n',
        readers: 'all',
      },
      { name: SUFFIXES, text: 'test\n', readers: 'all' },
    ]
  }
  const redis = edge.redis ? `${redisServers(edge)}\n` : ''
  return [
    { name: 'local.d/dkim_signing.conf', text: `${signing(edge)}\n`, readers: 'all' },
    { name: 'local.d/worker-proxy.inc', text: `${milter(edge)}\n`, readers: 'all' },
    { name: 'local.d/worker-normal.inc', text: `${scanner(edge)}\n`, readers: 'all' },
    {
      name: 'local.d/options.inc',
      text: `map_watch_interval = 1s;\nmax_message = 64Mb;\n${SCAN_TIME}\n`,
      readers: 'all',
    },
    ...(edge.antivirus
      ? [
          {
            name: 'local.d/antivirus.conf',
            text: `${antivirusRules(edge)}\n`,
            readers: 'all' as const,
          },
        ]
      : []),
    ...(redis ? [{ name: 'local.d/redis.conf', text: redis, readers: '_rspamd' as const }] : []),
  ]
}

const milter = ({
  privateAddress,
  ports,
}: EdgeSettings) => `bind_socket = "${privateAddress}:${ports.milter}";
milter = yes;
# Enough to scan the largest allowed message on a busy host.
timeout = 100s;
upstream "local" {
  default = yes;
  # Rspamd 3.4 crashes if this worker itself waits for the virus scanner.
  hosts = "${privateAddress}:${ports.scanner}";
}`

/** The content filter sends incoming mail to this worker. */
const scanner = ({ privateAddress, ports }: EdgeSettings) =>
  `bind_socket = "${privateAddress}:${ports.scanner}";`

/**
 * Signs with the domain of the From header, which must equal the domain of the envelope sender, as
 * Postfix has verified that one. Otherwise a tenant could get mail signed with the key of another.
 * Relayed mail is never signed.
 */
const signing = ({ redis, folders }: EdgeSettings) => `${
  redis
    ? `use_redis = true;
key_prefix = "${REDIS_KEYS}";
selector_prefix = "${REDIS_SELECTORS}";
try_fallback = true;`
    : `path = "${keyFile(folders.dkim, '$domain', '$selector')}";
selector_map = "${folders.dkim}/${SELECTORS_FILE}";
try_fallback = false;`
}
sign_authenticated = true;
sign_local = false;
use_domain = "header";
use_esld = false;
allow_hdrfrom_mismatch = false;
allow_hdrfrom_multiple = false;
allow_username_mismatch = true;
allow_envfrom_empty = true;
check_pubkey = false;`

const redisServers = ({ redis }: EdgeSettings) =>
  redis === undefined
    ? ''
    : `servers = "${redis.host}:${redis.port}";
db = "${redis.database}";${redis.password === '' ? '' : `\npassword = "${redis.password}";`}`

const nameServers = ({ dnsServers }: EdgeSettings) =>
  (dnsServers.length > 0 ? dnsServers : ['127.0.0.1']).map((one) => `"${one}"`).join(', ')

const privateConfig = (edge: EdgeSettings) => `# Written by mailplane; changes here are lost.
options {
  pidfile = "${edge.folders.rspamdPid}";
  tempdir = "${edge.folders.rspamdData}";
  cache_file = "${edge.folders.rspamdData}/symbols.cache";
  hs_cache_dir = "${COMPILED_PATTERNS}";
  history_file = "${edge.folders.rspamdData}/rspamd.history";
  stats_file = "${edge.folders.rspamdData}/stats.ucl";
  dynamic_conf = "${edge.folders.rspamdData}/dynamic";
  rrd = "";
  url_tld = "${edge.folders.rspamdConfig}/${SUFFIXES}";
  filters = "dkim";
  explicit_modules = ["dkim"];
  map_watch_interval = 1s;
  max_message = 64Mb;
  ${SCAN_TIME}
  enable_test_patterns = true;
  local_addrs = ["127.0.0.0/8"];
  dns {
    timeout = 1s;
    retransmits = 1;
    nameserver = [${nameServers(edge)}];
  }
  control_socket = "${edge.folders.rspamdData}/control.sock mode=0600";
}
logging {
  type = "file";
  filename = "${edge.folders.logs}/rspamd.log";
  level = "notice";
}
worker "rspamd_proxy" {
${milter(edge)}
count = 1;
}
worker "normal" {
${scanner(edge)}
count = 1;
}
worker "controller" {
  bind_socket = "${edge.privateAddress}:${edge.ports.controller}";
  count = 1;
  password = "${edge.controllerPassword}";
  enable_password = "${edge.controllerPassword}";
}
# All clients of a private edge are on this machine.
dkim {
  check_local = true;
}
modules {
  path = "/usr/share/rspamd/plugins/";
}
lua = "${edge.folders.rspamdConfig}/rspamd.lua";
metric {
  name = "default";
  actions {
    reject = 9999;
    rewrite_subject = 12;
    add_header = 6;
  }
}
${edge.redis === undefined ? '' : `redis {\n${redisServers(edge)}\n}\n`}# The control plane sends the policy of a domain with each scan.
settings {
}
dkim_signing {
${signing(edge)}
}
${edge.antivirus ? `antivirus {\n${antivirusRules(edge)}\n}\n` : ''}`
