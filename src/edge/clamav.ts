import type { EdgeSettings, RenderedFile } from './settings.ts'

/** The signature of the EICAR test file, so that a private edge can be tried without a download. */
const TEST_SIGNATURE = `Mailplane.Test.EICAR:0:0:${Buffer.from(
  // In two parts: scanners on the machines of developers must not find it in this file.
  `X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD-${'ANTIVIRUS-TEST-FILE!$H+H*'}`,
).toString('hex')}\n`

const TEST_DATABASE = 'test-signatures'

/** The configuration of clamd; no files while the scanner is turned off. */
export function clamavFiles(edge: EdgeSettings): RenderedFile[] {
  if (edge.antivirus === undefined) return []
  const main: RenderedFile = { name: 'clamd.conf', text: clamdConfig(edge), readers: 'all' }
  if (!edge.isPrivate) return [main]
  return [main, { name: `${TEST_DATABASE}/mailplane.ndb`, text: TEST_SIGNATURE, readers: 'all' }]
}

/** The address of clamd for Rspamd: a socket of the Debian package, or a port of a private edge. */
export const clamdAddress = ({ isPrivate, privateAddress, ports }: EdgeSettings): string =>
  isPrivate ? `${privateAddress}:${ports.clamd}` : SOCKET

const SOCKET = '/run/clamav/clamd.ctl'

// The limits are above that of a message, because clamd skips what is larger.
const clamdConfig = (edge: EdgeSettings): string => `# Written by mailplane; changes here are lost.
User clamav
${edge.isPrivate ? privateLines(edge) : hostLines}
DatabaseDirectory ${edge.antivirus?.database ?? `${edge.folders.clamavConfig}/${TEST_DATABASE}`}
LogTime yes
StreamMaxLength 100M
MaxScanSize 200M
MaxFileSize 100M
MaxRecursion 16
MaxFiles 10000
MaxThreads 8
ReadTimeout 30
CommandReadTimeout 30
AlertBrokenExecutables no
`

const privateLines = ({ folders, ports, privateAddress }: EdgeSettings) => `Foreground yes
PidFile ${folders.clamavData}/clamd.pid
LogFile ${folders.logs}/clamd.log
TemporaryDirectory ${folders.clamavData}
TCPSocket ${ports.clamd}
TCPAddr ${privateAddress}`

const hostLines = `LocalSocket ${SOCKET}
LocalSocketGroup clamav
LocalSocketMode 666
FixStaleSocket yes
LogFile /var/log/clamav/clamav.log`

/** The antivirus module of Rspamd. Each try ends well before the time limit of a scan. */
export const antivirusRules = (edge: EdgeSettings): string => `clamav {
  type = "clamav";
  symbol = "CLAM_VIRUS";
  servers = "${clamdAddress(edge)}";
  # ClamAV takes the message apart itself, so that a virus in the text is found too.
  scan_mime_parts = false;
  action = "reject";
  message = "the message contains a virus: \${VIRUS}";
  timeout = 20.0;
  retransmits = 1;
}`
