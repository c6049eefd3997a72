# fish completion of kubewatch; made by: kubewatch completion fish
function __kubewatch_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l answer ($words[1] __complete $words[2..-1] 2>/dev/null)
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
