# SPDX-License-Identifier: GPL-3.0-or-later
#
# Completion of slope's verbs, options and files for bash.

# The options of a verb, one word each; choices are completed below.
_slope_options() {
	case $1 in
	record)
		echo '-o --output= --source= --cost= --input= --cell= --toggle= --only= --skip= --max-points='
		echo '--contexts --context-sites --context-recursion= --burst --context= --max-contexts='
		echo '--paths --event= --path-sample= --perturbation --rate= --clock= --no-trampoline --duration= --delayed --attach='
		echo '--fair-sched= --max-threads= --window= --no-symbols --verify -j --json -q --quiet'
		;;
	report) echo '-j --json -n --top= -s --sort= -k --times= --of= -u --unit= -i --input= -f --filter= --color= --no-inline' ;;
	show) echo '-j --json -o --output= -g --guess= -u --unit= -i --input= --linear --log --ascii --color=' ;;
	explain) echo '-j --json -u --unit= --color=' ;;
	diff)
		echo '-j --json -g --gate -n --top= -p --points --of= -u --unit= -i --input= --level= --min-cost= --min-exponent='
		echo '--min-workload= --share= --color='
		;;
	check)
		echo '-r --rules= -b --baseline= -j --json --junit= -q --quiet --inconclusive= --allow-missing --of= -u --unit='
		echo '-i --input= --level= --min-exponent= --share= --color='
		;;
	paths) echo '-j --json -m --metric= -t --threshold= -s --sort= -n --top= -c --context --thread= --blocks --graphs --ascii --color=' ;;
	contexts) echo '-j --json -f --function= -k --k= -s --similar= -b --by= --sites --statistics -n --top= -u --unit= --ascii --color= --no-inline' ;;
	threads) echo '-j --json -n --top= -u --unit= -f --filter= --color=' ;;
	html) echo '-o --output= -b --baseline= -k --times= --of= -u --unit= -i --input= --no-inline' ;;
	export) echo '-f --format= -o --output= -u --unit= --threads -k --k= -i --input= --function= --no-inline' ;;
	merge) echo '-o --output=' ;;
	info) echo '-j --json' ;;
	ctl) echo '-a --all -o --output= -j --json -q --quiet' ;;
	doctor) echo '-j --json --color=' ;;
	esac
	echo '-h --help'
}

# The values that an option of a verb takes, where they are known.
_slope_values() {
	case $1/$2 in
	record/--source) echo 'valgrind translator sampler' ;;
	record/--cost) echo 'ir bb time ir,bb ir,time' ;;
	record/--input) echo 'trms rms both' ;;
	record/--cell) echo '1 2 4 8 16 32 64' ;;
	record/--fair-sched) echo 'yes no' ;;
	record/--clock) echo 'cpu wall' ;;
	record/--duration) echo '1s 10s 1m' ;;
	record/--rate) echo '100 1000 10000' ;;
	record/--contexts) echo 'cct 1 2 4 10' ;;
	record/--event) echo 'time cycles instructions cache-misses branch-misses page-faults task-clock context-switches alloc-bytes live-bytes read-bytes write-bytes lock-wait' ;;
	record/--path-sample) echo '1 64 1k' ;;
	record/--perturbation) echo '1 5 9' ;;
	record/--context-recursion) echo 'keep collapse' ;;
	report/--sort | report/-s) echo 'growth total self calls name' ;;
	paths/--sort | paths/-s) echo 'share count length ratio' ;;
	contexts/--by | contexts/-b) echo 'self total calls' ;;
	*/--of) echo 'mean max min' ;;
	check/--inconclusive) echo 'apart pass fail' ;;
	export/--format | export/-f) echo 'csv json callgrind pprof folded speedscope extrap' ;;
	*/--input | report/-i | show/-i | html/-i | export/-i | diff/-i | check/-i) echo 'trms rms' ;;
	*/--unit | report/-u | show/-u | explain/-u | contexts/-u | threads/-u | html/-u | export/-u | diff/-u | check/-u) echo 'ir bb time' ;;
	*/--color) echo 'auto always never' ;;
	esac
}

# Where the program's own words begin in a record command line, or nothing.
_slope_program_at() {
	local i=$1
	for (( ; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-o | =) ((i++)) ;;
		--output | --source | --cost | --input | --cell | --toggle | --only | --skip | --max-points | --context | --max-contexts | --context-recursion | --event | --path-sample | --rate | --clock | --duration | --attach | --fair-sched | --max-threads | --window)
			[ "${COMP_WORDS[i + 1]}" = = ] || ((i++))
			;;
		--) echo $((i + 1)) && return ;;
		-*) ;;
		*) echo "$i" && return ;;
		esac
	done
}

_slope() {
	local verbs='record report show explain diff check contexts paths threads html export merge info ctl doctor'
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]} first=2 at values
	COMPREPLY=()
	case " $verbs " in
	*" $verb "*) ;;
	*) verb=record first=1 ;;
	esac
	if [ "$COMP_CWORD" = 1 ]; then
		if [[ $word == -* ]]; then
			COMPREPLY=($(compgen -W "$(_slope_options record) -V --version" -- "$word"))
		else
			COMPREPLY=($(compgen -W "$verbs" -- "$word") $(compgen -c -- "$word"))
		fi
		[[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace
		return
	fi
	if [ "$verb" = record ]; then
		at=$(_slope_program_at $first)
		if [ -n "$at" ] && [ "$at" -le "$COMP_CWORD" ]; then
			declare -F _command_offset >/dev/null && _command_offset "$at" && return
			COMPREPLY=($(compgen -f -- "$word"))
			return
		fi
	fi
	if [ "$word" = = ]; then
		word='' values=$(_slope_values "$verb" "$before")
	elif [ "$before" = = ]; then
		values=$(_slope_values "$verb" "${COMP_WORDS[COMP_CWORD - 2]}")
	else
		values=$(_slope_values "$verb" "$before")
	fi
	if [ -n "$values" ]; then
		COMPREPLY=($(compgen -W "$values" -- "$word"))
	elif [[ $word == -* ]]; then
		COMPREPLY=($(compgen -W "$(_slope_options "$verb")" -- "$word"))
		[[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace
	elif [ "$verb" = ctl ]; then
		COMPREPLY=($(compgen -W 'start stop status dump' -- "$word"))
	elif [ "$verb" = record ]; then
		COMPREPLY=($(compgen -c -- "$word") $(compgen -f -- "$word"))
	else
		COMPREPLY=($(compgen -f -- "$word"))
	fi
}

complete -o filenames -F _slope slope
