import type { Reason } from '../checking/verdict.ts'

type Shown = Exclude<Reason, 'allowed_by_organization' | 'allowed_by_operator'>

export interface PageWords {
  suspicious: string
  suspiciousHint: string
  blocked: string
  blockedHint: string
  unknown: string
  unknownHint: string
  leadsTo: string
  wholeAddress: string
  goOn: string
  doNot: string
  reasons: Record<Shown, string>
}

const en: PageWords = {
  suspicious: 'Look twice before you open this link',
  suspiciousHint:
    'Something about this link is unusual. Open it only if you expected the message and know the address below.',
  blocked: 'This link is blocked',
  blockedHint:
    'The address is on a list of dangerous sites, so it was not opened. You can close this page.',
  unknown: 'This link does not work',
  unknownHint: 'It is incomplete or too old. Ask the sender of the message for a new one.',
  leadsTo: 'It leads to',
  wholeAddress: 'Whole address',
  goOn: 'Open it anyway',
  doNot:
    'If you are not sure, close this page and ask the person who is said to have written to you.',
  reasons: {
    blocked_by_organization: 'Your organization has blocked this address.',
    blocked_by_operator: 'Your mail provider has blocked this address.',
    feed: 'A list of dangerous sites names this address.',
    dns_list: 'A list of dangerous sites names this address.',
    look_alike: 'Its name resembles that of a domain that you know, but it is another one.',
    mixed_scripts: 'Its name mixes letters of different alphabets that look the same.',
    ip_address: 'It has a number in place of a name. Real sites have names.',
    user_part: 'The beginning of the address looks like a name, but is none.',
    unreadable: 'The address cannot be read.',
  },
}

const de: PageWords = {
  suspicious: 'Sehen Sie zweimal hin, bevor Sie diesen Link öffnen',
  suspiciousHint:
    'Etwas an diesem Link ist ungewöhnlich. Öffnen Sie ihn nur, wenn Sie die Nachricht erwartet haben und die Adresse unten kennen.',
  blocked: 'Dieser Link ist gesperrt',
  blockedHint:
    'Die Adresse steht auf einer Liste gefährlicher Seiten und wurde nicht geöffnet. Sie können diese Seite schließen.',
  unknown: 'Dieser Link funktioniert nicht',
  unknownHint:
    'Er ist unvollständig oder zu alt. Bitten Sie den Absender der Nachricht um einen neuen.',
  leadsTo: 'Er führt zu',
  wholeAddress: 'Ganze Adresse',
  goOn: 'Trotzdem öffnen',
  doNot:
    'Wenn Sie unsicher sind, schließen Sie diese Seite und fragen Sie die Person, die Ihnen geschrieben haben soll.',
  reasons: {
    blocked_by_organization: 'Ihre Organisation hat diese Adresse gesperrt.',
    blocked_by_operator: 'Ihr Mailanbieter hat diese Adresse gesperrt.',
    feed: 'Eine Liste gefährlicher Seiten nennt diese Adresse.',
    dns_list: 'Eine Liste gefährlicher Seiten nennt diese Adresse.',
    look_alike: 'Ihr Name ähnelt dem einer Domain, die Sie kennen, ist aber ein anderer.',
    mixed_scripts: 'Ihr Name mischt Buchstaben verschiedener Alphabete, die gleich aussehen.',
    ip_address: 'Sie hat eine Nummer statt eines Namens. Echte Seiten haben Namen.',
    user_part: 'Der Anfang der Adresse sieht aus wie ein Name, ist aber keiner.',
    unreadable: 'Die Adresse ist nicht lesbar.',
  },
}

export const pageWords = (language: 'en' | 'de'): PageWords => (language === 'de' ? de : en)
