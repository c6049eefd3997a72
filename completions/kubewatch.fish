# fish completion of kubewatch; made by: kubewatch completion fish
function __kubewatch_program
    if string match -qr '^~(/|$)' -- $argv[1]
        echo -- $HOME(string sub -s 2 -- $argv[1])
    else if set -l parts (string match -r '^\$([A-Za-z_]\w*)(/.*)?$' -- $argv[1])
        set -l name $parts[2]
        echo -- $$name$parts[3]
    else
        echo -- $argv[1]
    end
end
function __kubewatch_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l program (__kubewatch_program $words[1])
    command -q -- $program
    or return
    set -l answer ($program __complete $words[2..-1] 2>/dev/null)
    or return
    set -l directive (string replace ':' '' -- $answer[-1])
    set -e answer[-1]
    if test (count $answer) -eq 0; and test (math "bitand($directive, 4)") -eq 0
        __fish_complete_path (commandline -ct)
        return
    end
    for line in $answer
        echo $line
    end
end
complete -c kubewatch -f -a '(__kubewatch_complete)'
