const en = {
  title: 'Password',
  hint: 'Mail programs on your phone and computer ask for the new password afterwards. Other sign-ins end.',
  current: 'Current password',
  next: 'New password',
  nextHint: 'At least 12 characters. A few words that you can remember are best.',
  again: 'New password again',
  different: 'The two new passwords are not the same.',
  change: 'Change password',
  changed: 'The password is changed',
  ended: (count: number) => `The password is changed, and ${count} other sign-ins ended`,
  forced: 'Choose a new password to go on',
}

const de: typeof en = {
  title: 'Passwort',
  hint: 'Mailprogramme auf Telefon und Computer fragen danach nach dem neuen Passwort. Andere Anmeldungen enden.',
  current: 'Jetziges Passwort',
  next: 'Neues Passwort',
  nextHint: 'Mindestens 12 Zeichen. Am besten einige Wörter, die Sie sich merken können.',
  again: 'Neues Passwort noch einmal',
  different: 'Die beiden neuen Passwörter sind nicht gleich.',
  change: 'Passwort ändern',
  changed: 'Das Passwort ist geändert',
  ended: (count) => `Das Passwort ist geändert, ${count} andere Anmeldungen wurden beendet`,
  forced: 'Wählen Sie ein neues Passwort, um fortzufahren',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
