package depstmp
