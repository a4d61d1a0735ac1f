const en = {
  title: 'Sign-ins',
  hint: 'Browsers and apps that are signed in to these pages. Mail programs send the password each time and are not listed.',
  device: 'Device',
  address: 'Network address',
  since: 'Signed in',
  until: 'Ends',
  current: 'This browser',
  unknown: 'Unknown',
  on: (browser: string, system: string) => `${browser} on ${system}`,
  end: 'Sign out',
  ended: 'The sign-in has ended',
  unsure: 'Something you do not know? End it, then change your password.',
}

const de: typeof en = {
  title: 'Anmeldungen',
  hint: 'Browser und Apps, die auf diesen Seiten angemeldet sind. Mailprogramme senden das Passwort jedes Mal und sind nicht dabei.',
  device: 'Gerät',
  address: 'Netzwerkadresse',
  since: 'Angemeldet',
  until: 'Endet',
  current: 'Dieser Browser',
  unknown: 'Unbekannt',
  on: (browser, system) => `${browser} auf ${system}`,
  end: 'Abmelden',
  ended: 'Die Anmeldung ist beendet',
  unsure: 'Etwas ist Ihnen fremd? Beenden Sie es, und ändern Sie dann Ihr Passwort.',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
