import { keyFile, SELECTORS_FILE } from '../mail/signing-keys.files.ts'
import { REDIS_KEYS, REDIS_SELECTORS } from '../mail/signing-keys.redis.ts'
import type { EdgeSettings, RenderedFile } from './settings.ts'

/**
 * A private edge signs, and knows of spam only the patterns that are made to try it out, so that
 * nothing is looked up outside. On a real host
 * these are changes to the configuration of the package, which also knows spam.
 */
export function rspamdFiles(edge: EdgeSettings): RenderedFile[] {
  if (edge.isPrivate) {
    return [
      { name: 'rspamd.conf', text: alone(edge), readers: '_rspamd' },
      {
        name: 'rspamd.lua',
        text: '-- No rules: it signs, and knows the patterns for tests.\n',
        readers: 'all',
      },
    ]
  }
  const redis = edge.redis ? `${redisServers(edge)}\n` : ''
  return [
    { name: 'local.d/dkim_signing.conf', text: `${signing(edge)}\n`, readers: 'all' },
    { name: 'local.d/worker-proxy.inc', text: `${milter(edge)}\n`, readers: 'all' },
    { name: 'local.d/worker-normal.inc', text: `${scanner(edge)}\n`, readers: 'all' },
    {
      name: 'local.d/options.inc',
      text: 'map_watch_interval = 1s;\nmax_message = 64Mb;\n',
      readers: 'all',
    },
    ...(redis ? [{ name: 'local.d/redis.conf', text: redis, readers: '_rspamd' as const }] : []),
  ]
}

const milter = ({
  privateAddress,
  ports,
}: EdgeSettings) => `bind_socket = "${privateAddress}:${ports.milter}";
milter = yes;
# As long as it takes on a busy host to look through the largest message there may be.
timeout = 100s;
upstream "local" {
  default = yes;
  self_scan = yes;
}`

/** Asked by the content filter about mail from outside. */
const scanner = ({ privateAddress, ports }: EdgeSettings) =>
  `bind_socket = "${privateAddress}:${ports.scanner}";`

/**
 * The domain of the From header signs, and it has to be that of the envelope, which Postfix has
 * checked: otherwise a login of one tenant could have its mail signed with the key of another. What
 * is only passed on is never signed.
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

const alone = (edge: EdgeSettings) => `# Written by mailplane; changes here are lost.
options {
  pidfile = "${edge.folders.rspamdPid}";
  tempdir = "${edge.folders.rspamdData}";
  cache_file = "${edge.folders.rspamdData}/symbols.cache";
  hs_cache_dir = "${edge.folders.rspamdData}";
  history_file = "${edge.folders.rspamdData}/rspamd.history";
  stats_file = "${edge.folders.rspamdData}/stats.ucl";
  dynamic_conf = "${edge.folders.rspamdData}/dynamic";
  rrd = "";
  url_tld = "/usr/share/rspamd/effective_tld_names.dat";
  filters = "dkim";
  explicit_modules = ["dkim"];
  map_watch_interval = 1s;
  max_message = 64Mb;
  enable_test_patterns = true;
  local_addrs = ["127.0.0.0/8"];
  dns {
    timeout = 1s;
    retransmits = 1;
    nameserver = ["127.0.0.1"];
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
${edge.redis === undefined ? '' : `redis {\n${redisServers(edge)}\n}\n`}dkim_signing {
${signing(edge)}
}
`
